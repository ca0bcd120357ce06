// Errors as the command reports them: a name, one line, and the exit code. run.ts prints them; commands/job.ts compares those of all ranks.
import { HalfulpError, SingularError, ValueError } from "../arrays/errors.ts";

export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code: 1 | 2;
}

/** Thrown on every rank if a command fails on one. The rank with the `reason` reports it; the others have none. */
export class JobError extends HalfulpError {
  constructor(
    readonly code: 1 | 2,
    readonly reason?: unknown,
  ) {
    super("the command failed on another rank");
  }
}

const SYSTEM_ERRORS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  EISDIR: "is a directory",
  ENOTDIR: "a component of the path is not a directory",
  ENOSPC: "no space left on the device",
  EFBIG: "file too large",
  EROFS: "read-only file system",
};

/** A system error in words. */
export function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return SYSTEM_ERRORS[code ?? ""] ?? message;
}

/** What to report for an error. */
export function failureOf(error: unknown): Failure {
  if (error instanceof SingularError || error instanceof ValueError) return { name: error.name, message: error.message, code: 1 };
  if (error instanceof HalfulpError) return { name: error.name, message: error.message, code: 2 };
  const { code, path, message } = error as NodeJS.ErrnoException;
  if (code !== undefined && path !== undefined)
    return { name: code, message: `${path}: ${reasonOf(error as NodeJS.ErrnoException)}`, code: 2 };
  return { name: "InternalError", message: `internal error: ${message ?? String(error)}`, code: 2 };
}
