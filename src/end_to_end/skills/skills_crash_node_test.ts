import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import { sqliteStore } from "../../store/drivers/sqlite.ts";
import { temporaryFolder } from "../test_process.ts";
import { crashUnderUploads } from "./test_skills_crash.ts";

const test = suite("a server is killed during uploads");
const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);
const UPLOADS = Number(process.env.TRIVET_TEST_UPLOADS ?? (isNode ? 1000 : 300));
const MAX_ANSWERS = Number(process.env.TRIVET_TEST_UPLOAD_ANSWERS ?? 40);

test(`SQLite: acknowledged uploads of ${UPLOADS} concurrent ones survive SIGKILL`, async () => {
  const folder = temporaryFolder();
  const open = () => sqliteStore(join(folder.path, "trivet.db"));
  await crashUnderUploads({
    open,
    address: "sqlite",
    data: folder.path,
    uploads: UPLOADS,
    maxAnswers: MAX_ANSWERS,
  });
  folder.remove();
});

test.run();
