"""The sample memory as it is in git. Reading it with the tool leaves derived files in the clone,
which its own .gitignore names; no test may depend on whether somebody did."""

import pathlib
import shutil

SAMPLE = pathlib.Path(__file__).resolve().parents[2] / ".bmad-sample"


def is_derived(path, root):
    """Whether `path` is a file that the .gitignore of the memory root `root` names."""
    lines = (root / ".gitignore").read_text(encoding="utf-8").splitlines()
    patterns = [line.rstrip("/") for line in lines if line and not line.startswith("#")]
    patterns += [pattern.replace("**/", "") for pattern in patterns if "**/" in pattern]
    place = pathlib.PurePosixPath("/", path.relative_to(root).as_posix())
    above = [each for each in (place, *place.parents) if each != each.parent]
    return any(each.match(pattern) for each in above for pattern in patterns)


def sample_files(root=SAMPLE):
    """The files of the sample memory in `root` that are not derived."""
    return sorted(p for p in root.rglob("*") if p.is_file() and not is_derived(p, root))


def copy_sample(target, root=SAMPLE):
    """Copies these files to the folder `target`, which must not exist."""
    for path in sample_files(root):
        copy = target / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
