import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree, longestHold } from "../http/test_loop_watchdog.ts";
import { sqliteStore } from "../store/drivers/sqlite.ts";
import { DEMO, newService, type TestFile } from "./test_service.ts";

const test = suite("skills: SQLite and the event loop");
const folder = mkdtempSync(join(tmpdir(), "skills-loop-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

test("a download of 2,000 small files holds the event loop for at most 50 ms, twenty hardly longer", async () => {
  const store = sqliteStore(join(folder, "downloads.db"));
  const { send, upload } = await newService({ store });
  const files = Array.from({ length: 1990 }, (_, i): TestFile => [`demo/${i}`, `content ${i}`]);
  const { id } = await (await upload([...DEMO, ...files])).json();
  const path = `/v1/skills/${id}/versions/latest/content`;
  const download = async (): Promise<number> => (await (await send(path)).arrayBuffer()).byteLength;
  const length = await download();
  await assertLoopIsFree(async () => assert.is(await download(), length));
  const holds = async (downloads: number): Promise<number> => {
    const all = () => Promise.all(Array.from({ length: downloads }, download));
    let least = Infinity;
    // Other load on the machine lengthens single holds.
    for (let i = 0; i < 8; i++) least = Math.min(least, await longestHold(all));
    return least;
  };
  const [one, twenty] = [await holds(1), await holds(20)];
  assert.ok(twenty < 6 * one, `${twenty.toFixed(0)} ms, and ${one.toFixed(0)} ms of one`);
  await store.close();
});

test.run();
