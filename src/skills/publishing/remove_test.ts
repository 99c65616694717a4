import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Commit, type Store, StoreUnavailableError } from "../../store/store.ts";
import { auditBlobs } from "../blobs/test_blob_audit.ts";
import { multipart, newService, SKILL_MD, type TestFile, type TestService } from "../test_service.ts";

const test = suite("skills/publishing/remove");

/** A store that shows each commit, and may refuse it. */
function watched(onCommit: (commit: Commit) => void): Store {
  const inner = memoryStore();
  return {
    guarantees: inner.guarantees,
    get: (key, options) => inner.get(key, options),
    list: (prefix, options) => inner.list(prefix, options),
    commit(commit) {
      onCommit(commit);
      return inner.commit(commit);
    },
    watch: (prefix) => inner.watch(prefix),
    sweep: () => inner.sweep(),
    close: () => inner.close(),
  };
}

/** A skill with versions, each with its own content in one of its files. */
async function publish(service: TestService, versions: number, files: number): Promise<string> {
  const filesOf = (version: number): TestFile[] => [
    ["demo/SKILL.md", SKILL_MD],
    ["demo/version.txt", String(version)],
    ...Array.from({ length: files }, (_, i): TestFile => [`demo/${i}.txt`, `content ${i}`]),
  ];
  const { id } = await (await service.upload(filesOf(0))).json();
  for (let i = 1; i < versions; i++) {
    const { body, type } = multipart(filesOf(i));
    const init = { method: "POST", body, headers: { "content-type": type } };
    assert.is((await service.send(`/v1/skills/${id}/versions`, init)).status, 200);
  }
  return id;
}

const sizeOf = ({ set = [], remove = [] }: Commit): number => set.length + remove.length;
const kindsOf = async (
  store: Store,
) => [...new Set((await store.list([], { limit: 10_000 })).map(({ key }) => key[0]))];

for (const [versions, files] of [[120, 1], [12, 120]] as const) {
  test(`a skill with ${versions} versions of ${files + 2} files is deleted in commits of limited size`, async () => {
    let largest = 0;
    const store = watched((commit) => largest = Math.max(largest, sizeOf(commit)));
    const service = await newService({ store });
    const id = await publish(service, versions, files);
    largest = 0;
    assert.is((await service.send(`/v1/skills/${id}`, { method: "DELETE" })).status, 200);
    assert.ok(largest < 1500, String(largest));
    assert.equal(await auditBlobs(store), []);
    assert.equal(await kindsOf(store), ["api_key"]);
  });
}

test("a deletion that is interrupted leaves the newer versions, and can be repeated", async () => {
  const store = watched((commit) => {
    if (!isFailing || !commit.remove?.some(([kind]) => kind === "skill")) return;
    throw new StoreUnavailableError("down");
  });
  let isFailing = false;
  const service = await newService({ store });
  const id = await publish(service, 60, 0);
  const path = `/v1/skills/${id}`;
  const { latest_version_id } = await (await service.send(path)).json();
  isFailing = true;
  assert.is((await service.send(path, { method: "DELETE" })).status, 503);
  isFailing = false;
  assert.equal(await auditBlobs(store), []);
  const { data } = await (await service.send(`${path}/versions?limit=100`)).json();
  assert.is(data.length, 10);
  assert.is(data[0].id, latest_version_id);
  for (const { id } of data) assert.is((await service.send(`${path}/versions/${id}/content`)).status, 200);
  assert.is((await service.send(path, { method: "DELETE" })).status, 200);
  assert.equal(await auditBlobs(store), []);
  assert.equal(await kindsOf(store), ["api_key"]);
});

test("versions that are published while a skill is deleted are deleted too, or outlive it whole", async () => {
  const store = memoryStore();
  const service = await newService({ store });
  const id = await publish(service, 60, 0);
  const { body, type } = multipart([["demo/SKILL.md", SKILL_MD]]);
  const init = { method: "POST", body, headers: { "content-type": type } };
  const statuses = await Promise.all([
    service.send(`/v1/skills/${id}`, { method: "DELETE" }),
    service.send(`/v1/skills/${id}/versions`, init),
    service.send(`/v1/skills/${id}`, { method: "DELETE" }),
    service.send(`/v1/skills/${id}/versions`, init),
  ]).then((responses) => responses.map(({ status }) => status));
  assert.ok(statuses.every((status) => [200, 404].includes(status)), String(statuses));
  await service.send(`/v1/skills/${id}`, { method: "DELETE" });
  assert.equal(await auditBlobs(store), []);
  assert.equal(await kindsOf(store), ["api_key"]);
});

test.run();
