import { suite } from "uvu";
import * as assert from "uvu/assert";
import { removeClient } from "../../../oauth/clients/client.ts";
import { clientKey } from "../../../oauth/records/client_record.ts";
import { removeUser } from "../../../oauth/users/remove_user.ts";
import { lockUser } from "../../../oauth/users/user_changes.ts";
import { memoryStore } from "../../../store/drivers/memory.ts";
import type { Store } from "../../../store/store.ts";
import { ensureDemo, toShownDemo } from "./demo.ts";

const test = suite("cli/serve/demo");
const LATER = { created: false, wantsSecrets: true };

test("a secret that still works is shown, only where it is wanted", async () => {
  const store = memoryStore();
  const { demo } = await ensureDemo(store, undefined);
  assert.equal(await toShownDemo(store, demo, LATER), { demo, showsSecrets: true });
  const hidden = await toShownDemo(store, demo, { created: false, wantsSecrets: false });
  assert.equal([
    hidden.showsSecrets,
    hidden.demo.client.secret,
    hidden.demo.user.password,
    hidden.demo.api_key,
  ], [
    false,
    null,
    null,
    null,
  ]);
  assert.is((await toShownDemo(store, undefined, LATER)).showsSecrets, false);
});

const CHANGES: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  "its client is removed": (store) => removeClient(store, "demo-client"),
  "its client authenticates otherwise": async (store) => {
    const { value } = (await store.get<object>(clientKey("demo-client")))!;
    const changed = { ...value, token_endpoint_auth_method: "private_key_jwt" };
    await store.commit({ set: [{ key: clientKey("demo-client"), value: changed }] });
  },
  "its user is removed": (store) => removeUser(store, "demo"),
  "its user is locked": (store) => lockUser(store, "demo"),
};
for (const [change, make] of Object.entries(CHANGES)) {
  test(`a secret of the demo is not shown when ${change}; the others are`, async () => {
    const store = memoryStore();
    const { demo } = await ensureDemo(store, undefined);
    await make(store);
    const isOfClient = change.includes("client");
    const { client, user, api_key } = demo!;
    assert.equal(await toShownDemo(store, demo, LATER), {
      demo: {
        client: isOfClient ? { ...client, secret: null } : client,
        user: isOfClient ? user : { ...user, password: null },
        api_key,
      },
      showsSecrets: true,
    });
  });
}

test.run();
