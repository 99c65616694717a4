import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import { sqliteStore } from "../store/drivers/sqlite.ts";
import { DEMO, newService, type TestFile } from "./test_service.ts";

const test = suite("skills: SQLite and the event loop");
const folder = mkdtempSync(join(tmpdir(), "skills-loop-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

test("a download of 2,000 small files holds the event loop for at most 50 ms", async () => {
  const store = sqliteStore(join(folder, "downloads.db"));
  const { send, upload } = await newService({ store });
  const files = Array.from({ length: 1990 }, (_, i): TestFile => [`demo/${i}`, `content ${i}`]);
  const { id } = await (await upload([...DEMO, ...files])).json();
  const path = `/v1/skills/${id}/versions/latest/content`;
  const download = async (): Promise<number> => (await (await send(path)).arrayBuffer()).byteLength;
  const length = await download();
  await assertLoopIsFree(async () => assert.is(await download(), length));
  await store.close();
});

test.run();
