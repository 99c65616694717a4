/**
 * Reads the processor time of other processes.
 *
 * @module
 */
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";

/**
 * Microseconds of all threads of a process, where the system tells (Linux, `/proc/PID/task/TID/schedstat`: nanoseconds of a
 * thread that runs); 0 elsewhere.
 */
export function readProcessorTime(pid: number): number {
  if (process.platform !== "linux") return 0;
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce((sum, task) => sum + readThreadTime(`${tasks}/${task}`), 0) / 1000;
}

/** Nanoseconds; 0 for a thread that has just ended. */
function readThreadTime(folder: string): number {
  try {
    return Number(readFileSync(`${folder}/schedstat`, "latin1").split(" ")[0]);
  } catch {
    return 0;
  }
}

/** The processes that a process has started, on Linux. */
export function findChildren(parent: number): number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      // The field after the name of the program, which may have blanks, and the state.
      return Number(readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)!.split(" ")[1]) === parent;
    } catch {
      return false;
    }
  });
}
