import found from "./index.js";

export const { binaryPath, problem } = found;
