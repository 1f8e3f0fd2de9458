/** The path of the program bmad-mem, or null where there is none for this machine. */
export const binaryPath: string | null;

/** Why binaryPath is null, as a sentence; otherwise null. */
export const problem: string | null;
