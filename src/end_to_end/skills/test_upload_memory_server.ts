/**
 * A process that serves skills from a SQLite store in the folder named, and says what memory it has used at most: the
 * other end of `upload_memory_node_test.ts`. Only tests start this.
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

/** Notes what there is, be it in use or garbage that nobody has collected. */
function look(): void {
  const { heapUsed, external } = process.memoryUsage();
  peak = Math.max(peak, heapUsed + external);
}
setInterval(look, 1);

/** Collects what there is to collect, and begins to look for the most anew. */
async function rest(): Promise<void> {
  for (let i = 0; i < 3; i++) {
    collect?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  peak = 0;
}

/**
 * Bytes that were resident at most. On Linux `maxRSS` begins with what the parent process had when it started this one, so
 * it is read from the kernel's record of this program alone (proc(5), `VmHWM`).
 */
function maxResident(): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    if (kilobytes !== undefined) return Number(kilobytes) * 1024;
  } catch {
    // No Linux.
  }
  return process.resourceUsage().maxRSS * 1024;
}

const handler: { fetch: FetchHandler["fetch"] } = { fetch: () => Promise.reject(new Error("Not ready")) };
const server = await Object.values(entries)[0]!({
  async fetch(request: Request, context?: RequestContext) {
    const { pathname } = new URL(request.url);
    if (pathname === "/rest") await rest();
    if (pathname !== "/rest" && pathname !== "/peak") return await handler.fetch(request, context);
    look();
    const { rss } = process.memoryUsage();
    return Response.json({ peak, rss, mostRss: maxResident() });
  },
}, { port: 0 });
handler.fetch = createTrivet({ issuer: server.url, store, oauth: false, mcp: false }).fetch;
process.stdout.write(JSON.stringify({ url: server.url, key: secret }) + "\n");
