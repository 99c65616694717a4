import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createSealer, seal, unseal } from "./seal.ts";
import { soleSecret } from "./server_secrets.ts";

const test = suite("crypto/seal");
const secret = soleSecret(new TextEncoder().encode("the secret"));

test("unseal() opens what seal() closed with the same secret for the same purpose", async () => {
  assert.is(await unseal(secret, "p", await seal(secret, "p", "text ü")), "text ü");
});

test("seal() gives another text each time", async () => {
  assert.is.not(await seal(secret, "p", "text"), await seal(secret, "p", "text"));
});

test("unseal() refuses another secret, another purpose, and any changed letter", async () => {
  const sealed = await seal(secret, "p", "text");
  assert.is(await unseal(soleSecret(new TextEncoder().encode("other")), "p", sealed), undefined);
  assert.is(await unseal(secret, "q", sealed), undefined);
  for (let i = 0; i < sealed.length; i++) {
    const changed = sealed.slice(0, i) + (sealed[i] === "A" ? "B" : "A") + sealed.slice(i + 1);
    assert.is(await unseal(secret, "p", changed), undefined, `letter ${i}`);
  }
});

test("a sealer opens text only with what it was bound to", async () => {
  const sealer = createSealer(() => secret, "p");
  const sealed = await sealer.seal("text", "record 1");
  assert.is(await sealer.unseal(sealed, "record 1"), "text");
  for (const other of ["record 2", "", undefined]) assert.is(await sealer.unseal(sealed, other), undefined);
  // Without such text it is the seal of `seal()`.
  assert.is(await unseal(secret, "p", await sealer.seal("text")), "text");
});

test("unseal() refuses what was never sealed", async () => {
  for (const text of ["", "A", "?", "AAAAAAAAAAAAAAAA", sealedLength(100)]) {
    assert.is(await unseal(secret, "p", text), undefined);
  }
});

const sealedLength = (length: number) => "A".repeat(length);

test.run();
