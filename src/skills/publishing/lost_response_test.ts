/**
 * Changes whose commit was done although the store reported that it was unavailable.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Commit, type Store, StoreUnavailableError } from "../../store/store.ts";
import { auditBlobs } from "../blobs/test_blob_audit.ts";
import { multipart, newService, SKILL_MD } from "../test_service.ts";

const test = suite("skills/publishing/lost_response");

type Fault = "response lost" | "not done" | "then down";

/** A store that fails the next commit that changes a skill. */
function failing(): { store: Store; failNext(fault: Fault): void } {
  const inner = memoryStore();
  let fault: Fault | undefined;
  let isDown = false;
  const changesSkill = ({ set = [], remove = [] }: Commit) =>
    [...set.map(({ key }) => key), ...remove].some(([kind]) => kind === "skill");
  const store: Store = {
    guarantees: inner.guarantees,
    async get(key, options) {
      if (isDown) throw new StoreUnavailableError("down");
      return await inner.get(key, options);
    },
    list: (prefix, options) => inner.list(prefix, options),
    async commit(commit) {
      const found = fault;
      if (!found || !changesSkill(commit)) return await inner.commit(commit);
      fault = undefined;
      if (found !== "not done") await inner.commit(commit);
      isDown = found === "then down";
      throw new StoreUnavailableError("The response was lost");
    },
    watch: (prefix) => inner.watch(prefix),
    sweep: () => inner.sweep(),
    close: () => inner.close(),
  };
  return {
    store,
    failNext: (next) => {
      fault = next;
      isDown = false;
    },
  };
}

/** Each change, and its event. It gets a skill with this many versions. */
const CHANGES = [
  ["skill_created", 0, "POST", () => "/v1/skills"],
  ["skill_version_created", 1, "POST", (id: string) => `/v1/skills/${id}/versions`],
  [
    "skill_version_deleted",
    2,
    "DELETE",
    (id: string, version: string) => `/v1/skills/${id}/versions/${version}`,
  ],
  ["skill_deleted", 2, "DELETE", (id: string) => `/v1/skills/${id}`],
] as const;

for (const [type, versions, method, toPath] of CHANGES) {
  /** The status, the number of events, and whether the change was made. */
  const change = async (fault: Fault): Promise<[status: number, events: number]> => {
    const { store, failNext } = failing();
    const service = await newService({ store });
    const upload = (path: string) => {
      const { body, type } = multipart([["demo/SKILL.md", SKILL_MD]]);
      return service.send(path, { method: "POST", body, headers: { "content-type": type } });
    };
    let id = "";
    let version = "";
    if (versions > 0) ({ id, latest_version_id: version } = await (await upload("/v1/skills")).json());
    for (let i = 1; i < versions; i++) await upload(`/v1/skills/${id}/versions`);
    service.events.length = 0;
    failNext(fault);
    const path = toPath(id, version);
    const { status } = method === "POST" ? await upload(path) : await service.send(path, { method });
    assert.equal(fault === "then down" ? [] : await auditBlobs(store), []);
    return [status, service.events.filter((event) => event.type === type).length];
  };

  test(`${type} is answered and recorded as done when only the response of the store was lost`, async () => {
    assert.equal(await change("response lost"), [200, 1]);
  });

  test(`${type} is a 503 without an event when it was not done, or the store cannot be read`, async () => {
    assert.equal(await change("not done"), [503, 0]);
    assert.equal(await change("then down"), [503, 0]);
  });
}

test.run();
