// Says where the program of this machine is: in the package for its platform, which npm installs
// beside this one because of its "os" and "cpu".
"use strict";

const supported = ["linux-x64", "linux-arm64"];
const platform = `${process.platform}-${process.arch}`;

exports.binaryPath = null;
exports.problem = null;
if (!supported.includes(platform)) {
  exports.problem =
    `${platform} is not supported yet; supported are ${supported.join(" and ")}. ` +
    "To build it from source, see https://bmad-mem.dev/docs/install.";
} else {
  try {
    exports.binaryPath = require.resolve(`@bmad-mem/${platform}/bin/bmad-mem`);
  } catch {
    exports.problem =
      `the package @bmad-mem/${platform} is not installed; ` +
      "install bmad-mem again, without leaving out optional dependencies.";
  }
}
