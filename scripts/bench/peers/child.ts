/**
 * What every server of this comparison does besides serving, as a process of its own: it prints its port, and on request
 * issues tokens to itself, by its own means but without a network, and tells the memory that these take.
 *
 * @module
 */
import process from "node:process";

/** What all of them know: one client, one user. */
export const CLIENT = {
  id: "app",
  secret: "a-secret-of-thirty-two-characters",
  redirect_uri: "https://app.example/cb",
};
export const USER = { username: "alice", password: "wonderland" };
export const SCOPE = "read";
/** Seconds: no token and no code ends while it is measured. */
export const LIFETIME = 7200;

/**
 * What the parent asks: to issue this many tokens, answered with the bytes that they take; or for the processor time that
 * was used so far, in microseconds.
 */
export type Question = { readonly fill: number } | { readonly processorTime: true };

/** Tells the port and answers questions. @param issue one token, through everything that a request would do */
export function serveParent(port: number, issue: () => Promise<unknown>): void {
  process.on("message", async (question: Question) => {
    if ("processorTime" in question) {
      const { user, system } = process.cpuUsage();
      return process.send!(user + system);
    }
    const before = memory();
    for (let at = 0; at < question.fill; at += 100) {
      await Promise.all(Array.from({ length: Math.min(100, question.fill - at) }, issue));
    }
    process.send!(memory() - before);
  });
  process.on("disconnect", () => process.exit());
  console.log(port);
}

/** Bytes in use, after everything that can be collected has been. */
function memory(): number {
  for (let i = 0; i < 3; i++) (globalThis as { gc?(): void }).gc!();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
