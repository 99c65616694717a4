import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { temporaryFolder } from "../../../end_to_end/test_process.ts";
import { signingKeyKey } from "../../../oauth/records/token_record.ts";
import { generateSigningKey } from "../../../oauth/tokens/signing_keys.ts";
import { addProvider, createSecretSealer } from "../../../oauth/sign_in/stored_provider.ts";
import { createAudit } from "../../../observability/audit.ts";
import { rotateServerSecret } from "../../../server_secret/rotate_secret.ts";
import { serverSecret } from "../../../server_secret.ts";
import { memoryStore } from "../../../store/drivers/memory.ts";
import type { Guarantees, Store } from "../../../store/store.ts";
import { checkAudit } from "./check_audit.ts";
import { checkModes, checkSpace } from "./check_files.ts";
import { checkServerSecret, checkSigningKeys } from "./check_keys.ts";
import { checkMail, checkProviders, checkTls } from "./check_services.ts";
import { checkClock, checkDurable, checkExpired, checkFormat, checkRoundTrip } from "./check_store.ts";
import { type Finding, runCheck } from "./finding.ts";

const test = suite("cli/doctor checks");
const folder = temporaryFolder();
const DAY_MS = 86_400_000;

/** A store with some members replaced. */
function storeWith(members: Partial<Store> = {}, store: Store = memoryStore()): Store {
  const own = { get: store.get, list: store.list, commit: store.commit, sweep: store.sweep };
  const bound = Object.fromEntries(Object.entries(own).map(([name, method]) => [name, method.bind(store)]));
  return Object.assign(Object.create(store), bound, members);
}
const levels = (findings: readonly Finding[]) => findings.map(({ level }) => level).join();

/** Every finding that is not ok says what to do. */
async function assertFinds(
  findings: readonly Finding[] | Promise<readonly Finding[]>,
  level: string,
  what: RegExp,
) {
  const found = await findings;
  assert.is(levels(found), level, JSON.stringify(found));
  assert.match(found[0]!.what, what);
  assert.is(found[0]!.advice !== undefined, level !== "ok");
}

test("a sound store has no findings", async () => {
  const store = memoryStore();
  const all = [
    ...await checkRoundTrip(store),
    ...await checkFormat(store),
    ...await checkExpired(store),
    ...checkClock(store, Date.now),
    ...await checkSigningKeys(store),
    ...await checkServerSecret(store),
    ...await checkAudit(store),
    ...await checkProviders(store),
  ];
  assert.equal(all.filter(({ level }) => level !== "ok"), []);
  assert.equal(await store.list(["doctor"]), [], "nothing is left behind");
});

test("a store that loses what was written, or is slow, is found", async () => {
  await assertFinds(
    checkRoundTrip(storeWith({ get: () => Promise.resolve(undefined) })),
    "FAIL",
    /not read back/,
  );
  const store = memoryStore();
  const slow = storeWith({
    commit: (commit) => new Promise((resolve) => setTimeout(() => resolve(store.commit(commit)), 300)),
  }, store);
  await assertFinds(checkRoundTrip(slow), "warn", /ms/);
});

test("a store that loses commits at a power failure, or at once, is found", async () => {
  const durable = (durable: Guarantees["durable"]) =>
    checkDurable(storeWith({ guarantees: { atomic: true, readYourWrites: true, durable } }));
  await assertFinds(durable("power"), "ok", /power failure/);
  await assertFinds(durable("process"), "warn", /power failure/);
  await assertFinds(durable("none"), "FAIL", /nothing survives/);
});

test("expired records that no server removed are found", async () => {
  await assertFinds(
    checkExpired(storeWith({ sweep: () => Promise.resolve(10_001) })),
    "warn",
    /10001 expired/,
  );
});

test("a clock that differs from that of the engine is found", async () => {
  const ahead = (ms: number) => checkClock(storeWith({ now: () => 1e12 + ms }), () => 1e12);
  await assertFinds(ahead(100), "ok", /0\.1 s ahead/);
  await assertFinds(ahead(-6000), "warn", /6\.0 s behind/);
  await assertFinds(ahead(90_000), "FAIL", /90\.0 s ahead/);
});

test("a signing key that no server rotated is found", async () => {
  const store = memoryStore();
  const made = Date.now() - 100 * DAY_MS;
  const value = {
    ...await generateSigningKey("ES256"),
    alg: "ES256",
    generation: 0,
    created: made,
    starts: made,
  };
  await store.commit({ set: [{ key: signingKeyKey("ES256", 0), value }] });
  const findings = await checkSigningKeys(store);
  await assertFinds(findings, "warn", /for 100 days/);
  assert.not(JSON.stringify(findings).includes(value.jwk.d!));
});

test("a rotation of the server secret that was interrupted is found", async () => {
  let at = Date.now();
  const store = storeWith({ now: () => at }, memoryStore({ now: () => at }));
  await serverSecret(store)();
  await rotateServerSecret(store, { pause: () => Promise.reject(new Error("killed")) }).catch(() => {});
  await assertFinds(checkServerSecret(store), "ok", /1 earlier/);
  at += 3600_000;
  await assertFinds(checkServerSecret(store), "warn", /interrupted/);
  await rotateServerSecret(store, { pause: () => Promise.resolve() });
  await assertFinds(checkServerSecret(store), "ok", /1 earlier/);
});

test("an audit trail that was changed is found, and a long one is checked for a limited time", async () => {
  const store = memoryStore();
  const audit = createAudit({ store });
  for (let i = 0; i < 3; i++) {
    audit.add({ type: "login_succeeded", user: `user ${i}` } as never);
    await audit.flush();
  }
  await audit.close();
  await assertFinds(checkAudit(store), "ok", /whole: 3 records/);
  await assertFinds(checkAudit(store, 0), "ok", /trivet audit verify/);
  const [entry] = await store.list<Uint8Array>(["audit"], { limit: 1 });
  const text = new TextDecoder().decode(entry!.value).replace("user 0", "user 9");
  await store.commit({ set: [{ key: entry!.key, value: new TextEncoder().encode(text) }] });
  await assertFinds(checkAudit(store), "FAIL", /broken at record/);
});

test("an identity provider that does not answer is found, without its secret", async () => {
  // GitHub has no metadata: only its token endpoint can fail.
  for (const kind of ["oidc", "github"] as const) {
    const store = memoryStore();
    const registration = {
      kind,
      id: "work",
      issuer: "http://127.0.0.1:9",
      clientId: "a",
      clientSecret: "hidden-secret",
    };
    await addProvider(store, createSecretSealer(serverSecret(store)), registration);
    const findings = await checkProviders(store);
    await assertFinds(findings, "FAIL", /^work: /);
    assert.not.match(JSON.stringify(findings), "hidden-secret");
  }
});

test("files that others can read, a folder that they can write to, and a full disk are found", async () => {
  const path = join(folder.path, "modes");
  mkdirSync(path, { mode: 0o700 });
  const file = join(path, "trivet.db");
  writeFileSync(file, "", { mode: 0o600 });
  await assertFinds(checkModes(path), "ok", /only their owner/);
  chmodSync(file, 0o640);
  await assertFinds(checkModes(path), "FAIL", /can read/);
  chmodSync(file, 0o600);
  chmodSync(path, 0o770);
  await assertFinds(checkModes(path), "FAIL", /can replace/);
  await assertFinds(checkSpace(path), levels(checkSpace(path)), /left/);
  await assertFinds(checkSpace(path, () => 500e6), "warn", /MB left/);
  await assertFinds(checkSpace(path, () => 50e6), "FAIL", /MB left/);
});

test("a mail program that cannot be run, and certificate files that cannot be used, are found", async () => {
  await assertFinds(checkMail(join(folder.path, "none"), "a@b.example"), "FAIL", /cannot be run/);
  await assertFinds(checkMail(folder.path, "a@b.example"), "FAIL", /cannot be run/);
  await assertFinds(checkMail("/bin/sh", undefined), "FAIL", /--mail-from/);
  await assertFinds(checkMail(undefined, "a@b.example"), "FAIL", /--mail-program/);
  await assertFinds(checkMail("/bin/sh", "foo"), "FAIL", /"foo" is not an e-mail address/);
  await assertFinds(checkMail("sh", "Trivet <a@b.example>"), "ok", /are sent by/);
  await assertFinds(checkMail("/bin/sh", "a@b.example"), "ok", /are sent by/);
  const pem = join(folder.path, "pem");
  writeFileSync(pem, "not a certificate");
  await assertFinds(checkTls({ "tls-cert": pem, "tls-key": pem }), "FAIL", /./);
  await assertFinds(checkTls({ "tls-cert": pem, "tls-key": undefined }), "FAIL", /need each other/);
  assert.equal(checkTls({ "tls-cert": undefined, "tls-key": undefined }), []);
});

test("a check that throws has failed, without the secrets in its message", async () => {
  const run = () => Promise.reject(new Error("cannot connect to postgres://u:pw1234@db"));
  const [finding] = await runCheck({ name: "store", run }, ["pw1234"]);
  assert.is(finding!.level, "FAIL");
  assert.match(finding!.what, "cannot connect");
  assert.not.match(finding!.what, "pw1234");
});

test.after(() => folder.remove());
test.run();
