import { suite } from "uvu";
import { dropStore } from "../../../scripts/cluster/cluster.ts";
import { skipBecause } from "../../../scripts/test/run_files.ts";
import { postgresStore } from "../../store/drivers/postgres.ts";
import { redisStore } from "../../store/drivers/redis.ts";
import { findEngine } from "../../store/test_engines.ts";
import { temporaryFolder } from "../test_process.ts";
import { crashUnderUploads } from "./test_skills_crash.ts";

const test = suite("a server on an engine is killed during uploads");
const UPLOADS = 30;
const suffix = crypto.randomUUID().slice(0, 8);
const engines = [
  ["postgres", `?schema=crash_${suffix}`, (address: string) => postgresStore(address)],
  ["redis", `?name=crash_${suffix}`, (address: string) => redisStore(address)],
] as const;

for (const [name, query, open] of engines) {
  const engine = await findEngine(name);
  if (engine === undefined) {
    skipBecause(test, `no ${name} listens: uploads on it are not tested`);
    continue;
  }
  const address = engine + query;
  test(`${name}: acknowledged uploads of ${UPLOADS} concurrent ones survive SIGKILL`, async () => {
    const folder = temporaryFolder();
    try {
      await crashUnderUploads({
        open: () => open(address),
        address,
        data: folder.path,
        uploads: UPLOADS,
        maxAnswers: 6,
      });
    } finally {
      await dropStore(address);
      folder.remove();
    }
  });
}

test.run();
