import { suite } from "uvu";
import * as assert from "uvu/assert";
import { soleSecret } from "../crypto/server_secrets.ts";
import { addClient } from "../oauth/clients/client.ts";
import { addProvider, createSecretSealer } from "../oauth/sign_in/stored_provider.ts";
import { addUser, saveProfile } from "../oauth/users/user.ts";
import { updateUser } from "../oauth/users/user_changes.ts";
import { createApiKey } from "../skills/api_key.ts";
import { memoryStore } from "./drivers/memory.ts";

const test = suite("store: stored times");

/** The engine is a day behind this machine. */
const NOW = Date.now() - 86_400_000;

test("records are dated by the clock of the store, not by that of the machine", async () => {
  const store = memoryStore({ now: () => NOW });
  const user = await addUser(store, { username: "alice", password: "wonderland" }, 1000);
  await updateUser(store, user.id, { name: "Alice" });
  await saveProfile(store, { id: "user_linked", name: "Linked", email: "" });
  await addClient(store, { domain: "app.example" });
  await createApiKey(store, { name: "ci" });
  const sealer = createSecretSealer(() => soleSecret(new Uint8Array(32).fill(7)));
  await addProvider(store, sealer, { kind: "github", clientId: "trivet", clientSecret: "secret" });
  const times: string[] = [];
  for (const kind of ["user", "profile", "client", "api_key", "provider"]) {
    const [entry] = await store.list<Record<string, unknown>>([kind]);
    for (const [name, value] of Object.entries(entry!.value)) {
      if (typeof value !== "number") continue;
      times.push(`${kind}.${name}`);
      assert.ok(value === NOW, `${kind}.${name}: ${value}`);
    }
  }
  assert.equal(times, [
    "user.created",
    "user.updated",
    "profile.known_since",
    "profile.updated",
    "client.created",
    "api_key.created",
    "provider.added",
  ]);
});

test.run();
