/**
 * Kills a server during many uploads. Acknowledged skills must be complete, others complete or absent without remains, and
 * the memory of the server within its limit. Only tests import this.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import * as assert from "uvu/assert";
import { createApiKey } from "../../skills/api_key.ts";
import { createLedger } from "../../skills/blobs/blob_ledger.ts";
import { digestOf } from "../../skills/content_digest.ts";
import { auditBlobs } from "../../skills/blobs/test_blob_audit.ts";
import { readZip } from "../../skills/archive/zip_reader.ts";
import type { Store } from "../../store/store.ts";
import { startTrivet } from "../test_process.ts";
import { nameOf, type UploadAnswer, uploadLoad } from "./test_upload_load.ts";

const MEGABYTE = 1024 * 1024;
const DAY = 24 * 60 * 60 * 1000;
/**
 * The memory that uploads may add to the process: the capacity for uploads, buffers of connections, and garbage. A thousand
 * uploads are three times as large.
 */
const MAX_MEMORY_BYTES = 320 * MEGABYTE;

const load = uploadLoad(MEGABYTE);

export interface CrashCase {
  /** Opens the store that the server uses. */
  readonly open: () => Store;
  /** The values of `--store` and `--data`. */
  readonly address: string;
  readonly data: string;
  /** The number of concurrent uploads. */
  readonly uploads: number;
  /** The server is killed after a random number of successful responses up to this one. */
  readonly maxAnswers: number;
}

/** Kills a server during uploads, starts another on the same store, and checks all uploads. */
export async function crashUnderUploads(
  { open, address, data, uploads, maxAnswers }: CrashCase,
): Promise<void> {
  const store = open();
  const { secret: key } = await createApiKey(store, { name: "load" });
  await store.close();
  const args = ["--store", address, "--data", data, "--no-demo"];

  const first = await startTrivet(args);
  const base = memoryOf(first.child.pid!);
  let peak = base;
  const sampling = setInterval(() => {
    const now = memoryOf(first.child.pid!);
    if (now > peak) peak = now;
  }, 20);
  const killAfter = 1 + Math.floor(Math.random() * maxAnswers);
  const started = performance.now();
  let acknowledged = 0;
  const killed = Promise.withResolvers<void>();
  const sent = Array.from({ length: uploads }, async (_, number): Promise<UploadAnswer> => {
    const answer = await load.send(first.facts.url, key, number);
    if (answer.status === 200 && ++acknowledged === killAfter) killed.resolve();
    return answer;
  });
  // When all uploads end before, the test must end too.
  await Promise.race([killed.promise, Promise.all(sent)]);
  const seconds = (performance.now() - started) / 1000;
  await first.stop("SIGKILL");
  clearInterval(sampling);
  const answered = await Promise.all(sent);

  const second = await startTrivet(args);
  const stored = await listByName(second.facts.url, key);
  let unacknowledged = 0;
  for (const [number, answer] of answered.entries()) {
    const name = nameOf(number);
    const ids = stored.get(name) ?? [];
    if (answer.status === 200) assert.equal(ids, [answer.id], `${name} was acknowledged`);
    else if (answer.status !== undefined) assert.equal(ids, [], `${name} was refused: ${answer.text}`);
    else unacknowledged += ids.length;
    assert.ok(ids.length <= 1, `${name} was sent once`);
    for (const id of ids) {
      const found = await download(second.facts.url, key, id, name);
      assert.equal(found, await load.digests(number), `${name} is complete`);
    }
  }
  await second.stop();

  const after = open();
  const before = await auditBlobs(after);
  const removed = await createLedger(after, () => Date.now() + DAY).collect();
  assert.equal(await auditBlobs(after), []);
  await after.close();
  const memory = Number.isNaN(base) ? "unknown" : `${toMegabytes(base)} MB, ${toMegabytes(peak)} at most`;
  report(
    `  ${uploads} uploads, killed after ${acknowledged} responses 200 in ${
      seconds.toFixed(1)
    } s: ${unacknowledged} more ` +
      `were complete, ${removed} objects and ${before.length} records were left to collect; memory ${memory}`,
  );
  assert.ok(
    acknowledged >= killAfter,
    `no upload was accepted: ${answered.find(({ text }) => text !== "")?.text}`,
  );
  if (!Number.isNaN(base)) {
    assert.ok(peak - base < MAX_MEMORY_BYTES, `${toMegabytes(peak - base)} MB beside ${base}`);
  }
}

/** Prints figures. */
function report(line: string): void {
  process.stderr.write(line + "\n");
}

/** The memory of a process, in bytes; NaN where the system does not report it. */
function memoryOf(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
  } catch {
    return NaN;
  }
}

function toMegabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(0);
}

/** The ids of all skills by display name. */
async function listByName(url: string, key: string): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (let page = ""; page !== "end";) {
    const response = await fetch(`${url}/v1/skills?source=custom&limit=100${page}`, {
      headers: { "x-api-key": key },
    });
    assert.is(response.status, 200);
    const { data, next_page } = await response.json();
    for (const { id, display_name } of data) found.set(display_name, [...found.get(display_name) ?? [], id]);
    page = next_page === null ? "end" : `&page=${next_page}`;
  }
  return found;
}

/** The digests of the files in a skill's archive. */
async function download(url: string, key: string, id: string, name: string): Promise<Map<string, string>> {
  const response = await fetch(`${url}/v1/skills/${id}/versions/latest/content`, {
    headers: { "x-api-key": key },
  });
  assert.is(response.status, 200);
  const files = await readZip(new Uint8Array(await response.arrayBuffer()), 2 * MEGABYTE);
  const digests = new Map<string, string>();
  for (const { path, bytes } of files) digests.set(path.replace(`${name}/`, ""), await digestOf(bytes));
  return digests;
}
