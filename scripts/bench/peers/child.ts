/**
 * The connection of each compared server process to its parent: the process prints its port, and on a command issues tokens
 * without a network and returns their memory.
 *
 * @module
 */
import process from "node:process";

/** The client and the user of every server. */
export const CLIENT = {
  id: "app",
  secret: "a-secret-of-thirty-two-characters",
  redirect_uri: "https://app.example/cb",
};
export const USER = { username: "alice", password: "wonderland" };
export const SCOPE = "read";
/** Seconds. No token and no code expires during a measurement. */
export const LIFETIME_SECONDS = 7200;

/**
 * A command of the parent: issue this many tokens and return their bytes, or return the microseconds of processor time used
 * so far.
 */
export type Command = { readonly fill: number } | { readonly processorTime: true };

/** Prints the port and executes commands. @param issue issues one token, with all steps of a request */
export function serveParent(port: number, issue: () => Promise<unknown>): void {
  process.on("message", async (command: Command) => {
    if ("processorTime" in command) {
      const { user, system } = process.cpuUsage();
      return process.send!(user + system);
    }
    const before = measureMemory();
    for (let at = 0; at < command.fill; at += 100) {
      await Promise.all(Array.from({ length: Math.min(100, command.fill - at) }, issue));
    }
    process.send!(measureMemory() - before);
  });
  process.on("disconnect", () => process.exit());
  console.log(port);
}

/** Measures the bytes in use after garbage collection. */
function measureMemory(): number {
  for (let i = 0; i < 3; i++) (globalThis as { gc?(): void }).gc!();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
