import { suite } from "uvu";
import * as assert from "uvu/assert";
import { listAll } from "../../store/store.ts";
import { interruptAfter } from "../../store/test_meanwhile.ts";
import { connectionKey, REVOCATIONS } from "../connection_records.ts";
import { providerTokensKey } from "../records/provider_record.ts";
import { newServer } from "../test_server.ts";
import { removeUser } from "./remove_user.ts";

const test = suite("oauth/users/remove_user");

/** A server where alice has sessions, grants, kept tokens of a provider and a connection to an upstream. */
async function newAccount() {
  const server = await newServer();
  await server.tokens();
  await server.signIn();
  const id = (await server.store.list<{ id: string }>(["user"]))[0]!.value.id;
  const connection = {
    kind: "oauth",
    url: "https://up.example",
    connected: 0,
    hasRefreshToken: true,
    sealed: "x",
  };
  await server.store.commit({
    set: [
      { key: providerTokensKey(id, "corp"), value: { sealed: "x" } },
      { key: connectionKey(id, "up"), value: connection },
    ],
  });
  return { store: server.store, id };
}

test("a removal that is interrupted removes nothing, or leaves only what expires", async () => {
  for (let commits = 0, isDone = false; !isDone; commits++) {
    const { store, id } = await newAccount();
    const restore = interruptAfter(store, commits);
    const removed = await removeUser(store, id).catch(() => "failed");
    isDone = !restore();
    assert.is(removed, commits === 0 ? "failed" : true, `${commits} commits`);
    const left = (await Array.fromAsync(listAll(store, [])))
      .filter(({ key, value, expires }) => expires === undefined && JSON.stringify([key, value]).includes(id))
      .map(({ key }) => key[0]);
    const all = ["provider_tokens", "upstream_connection", "user", "username"];
    assert.equal(left.sort(), commits === 0 ? all : [], `${commits} commits`);
    assert.is((await store.list(REVOCATIONS)).length, commits === 0 ? 0 : 1, `${commits} commits`);
    assert.ok(commits < 30);
  }
});

test.run();
