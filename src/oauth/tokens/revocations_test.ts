import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { type Grant, grantKey, type Revocations } from "../records/grant_record.ts";
import { revocationsKey } from "../records/token_record.ts";
import { isRevoked, revokeSignedToken, type SignedToken } from "./revocations.ts";

const test = suite("oauth/tokens/revocations");

const token = (issued: number, grant?: string, jti = `jti${issued}`): SignedToken => ({
  jti,
  client_id: "app",
  grant,
  issued,
});
const listOfGrant = async (store: Store) => (await store.get<Grant>(grantKey("g")))!.value.revoked!;
const listOfClient = async (store: Store) => (await store.get<Revocations>(revocationsKey("app")))!.value;

for (
  const [name, grant, max, read] of [
    ["a grant", "g", 64, listOfGrant],
    ["a client", undefined, 256, listOfClient],
  ] as const
) {
  test(`the list of ${name} is full: the tokens that it drops stay revoked, and later ones are listed`, async () => {
    const store = memoryStore();
    const value: Grant = { client_id: "app", user: "user_1", scope: "read", created: 0, until: 1e15 };
    await store.commit({ set: [{ key: grantKey("g"), value }] });
    // The latest first: the list is in the order of issue.
    for (let i = max + 2; i > 0; i--) await revokeSignedToken(store, token(i * 10, grant));
    const list = await read(store);
    assert.equal([list.tokens.length, list.before], [max, 20]);
    for (const issued of [10, 20, 30, (max + 2) * 10]) {
      assert.ok(isRevoked(list, token(issued)), `issued at ${issued}`);
    }
    assert.ok(isRevoked(list, token(20, grant, "another of the time of a dropped one")));
    assert.not.ok(isRevoked(list, token(21, grant, "another")));
    assert.not.ok(isRevoked(list, token(30, grant, "another of the time of a listed one")));
    // A token that counts as revoked is not listed again.
    await revokeSignedToken(store, token(10, grant));
    assert.equal(await read(store), list);
  });
}

test("without a list no token is revoked", () => {
  assert.is(isRevoked(undefined, token(1)), false);
  assert.is(isRevoked({ before: 0, tokens: [] }, token(1)), false);
});

test.run();
