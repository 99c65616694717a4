/**
 * The server of `upload_memory_node_test.ts`: serves skills from a SQLite store and reports its peak memory. Only tests
 * start this.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { createTrivet } from "../../mod.ts";
import { createApiKey } from "../../skills/api_key.ts";
import { sqliteStore } from "../../store/drivers/sqlite.ts";
import type { RequestContext } from "../../http/service.ts";
import type { FetchHandler } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";

const store = sqliteStore(join(process.argv[2]!, "skills.db"));
const { secret } = await createApiKey(store, { name: "test" });
const collect = (globalThis as { gc?: () => void }).gc;
let peak = 0;

/** Updates the peak of memory in use, with garbage that is not collected yet. */
function sample(): void {
  const { heapUsed, external } = process.memoryUsage();
  peak = Math.max(peak, heapUsed + external);
}
setInterval(sample, 1);

/** Collects garbage and resets the peak. */
async function rest(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    collect?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  peak = 0;
}

/**
 * The peak of resident bytes. On Linux `maxRSS` begins with the value of the parent process, so that `VmHWM` of proc(5) is
 * read instead.
 */
function maxResident(): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    if (kilobytes !== undefined) return Number(kilobytes) * 1024;
  } catch {
    // Not Linux.
  }
  return process.resourceUsage().maxRSS * 1024;
}

const handler: { fetch: FetchHandler["fetch"] } = { fetch: () => Promise.reject(new Error("Not ready")) };
const server = await Object.values(entries)[0]!({
  async fetch(request: Request, context?: RequestContext) {
    const { pathname } = new URL(request.url);
    if (pathname === "/rest") await rest();
    if (pathname !== "/rest" && pathname !== "/peak") return await handler.fetch(request, context);
    sample();
    const { rss } = process.memoryUsage();
    return Response.json({ peak, rss, maxRss: maxResident() });
  },
}, { port: 0 });
handler.fetch = createTrivet({ issuer: server.url, store, oauth: false, mcp: false }).fetch;
process.stdout.write(JSON.stringify({ url: server.url, key: secret }) + "\n");
