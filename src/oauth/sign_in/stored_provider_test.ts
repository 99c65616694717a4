import { suite } from "uvu";
import * as assert from "uvu/assert";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { newServer } from "../test_server.ts";
import {
  addProvider,
  createSecretSealer,
  listProviders,
  openProvider,
  removeProvider,
} from "./stored_provider.ts";
import { CLIENT, newBrowser, newProvider, PROVIDER, signIn } from "./test_provider.ts";

const test = suite("oauth/sign_in stored providers");
const SECRETS = soleSecret(new Uint8Array(32).fill(7));
const SECRET = () => SECRETS;
const WORK = { kind: "oidc", id: "work", name: "Work", issuer: PROVIDER, ...CLIENT } as const;

test("a provider that is added, changed and removed counts at once", async () => {
  const provider = await newProvider();
  const server = await newServer({
    storedProviders: true,
    signInFetch: (url, init) => provider.fetch(url, init),
  });
  const sealer = createSecretSealer(SECRET);
  const attempt = async () => (await signIn(newBrowser(server), provider, "/login/work?redirect=%2F")).status;
  const isShown = async () => (await (await server.send("/login")).text()).includes("Continue with Work");
  assert.equal([await isShown(), (await server.send("/login/work")).status], [false, 404]);
  await addProvider(server.store, sealer, WORK);
  assert.equal([await isShown(), await attempt()], [true, 302]);
  await addProvider(server.store, sealer, { ...WORK, domains: ["other.example"] });
  assert.is(await attempt(), 403);
  assert.is(await removeProvider(server.store, "work"), true);
  assert.is(await removeProvider(server.store, "work"), false);
  assert.equal([await isShown(), (await server.send("/login/work")).status], [false, 404]);
});

test("the secret is sealed, and only with the secret of the server it is read", async () => {
  const store = memoryStore();
  await addProvider(store, createSecretSealer(SECRET), WORK);
  const [stored] = await Array.fromAsync(listProviders(store));
  assert.is(JSON.stringify(stored).includes(CLIENT.clientSecret), false);
  const other = createSecretSealer(() => soleSecret(new Uint8Array(32).fill(8)));
  const failure = await openProvider(stored!, other).then(() => undefined, (error) => error);
  assert.instance(failure, TypeError);
});

test("settings that make no provider are refused and not stored", async () => {
  const store = memoryStore();
  for (
    const wrong of [
      { ...WORK, issuer: undefined },
      { ...WORK, id: "UPPER" },
      { ...WORK, clientId: "" },
      { ...WORK, kind: "entra" as const },
      { ...WORK, domains: ["@example.com"] },
    ]
  ) {
    const failure = await addProvider(store, createSecretSealer(SECRET), wrong).catch((error) => error);
    assert.instance(failure, TypeError, JSON.stringify(wrong));
  }
  assert.equal(await Array.fromAsync(listProviders(store)), []);
});

test("each kind is made of its settings", async () => {
  const store = memoryStore();
  const sealer = createSecretSealer(SECRET);
  for (
    const registration of [
      { kind: "google", ...CLIENT, domains: ["example.com"] },
      { kind: "github", ...CLIENT, groups: ["acme"] },
      { kind: "entra", ...CLIENT, tenant: "organizations" },
      WORK,
    ] as const
  ) await addProvider(store, sealer, registration);
  const opened = await Promise.all(
    (await Array.fromAsync(listProviders(store))).map((each) => openProvider(each, sealer)),
  );
  assert.equal(opened.map(({ id, name }) => [id, name]), [
    ["entra", "Microsoft"],
    ["github", "GitHub"],
    ["google", "Google"],
    ["work", "Work"],
  ]);
});

test.run();
