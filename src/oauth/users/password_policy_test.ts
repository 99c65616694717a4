import { suite } from "uvu";
import * as assert from "uvu/assert";
import { checkNewPassword, completePasswordPolicy } from "./password_policy.ts";

const test = suite("oauth/password_policy");
const ALICE = { username: "Alice.Liddell", email: "alice.of.wonderland@example.com" };
const check = (password: string, policy = completePasswordPolicy()) =>
  checkNewPassword(policy, password, ALICE);

test("a new password has 12 characters or more, counted in code points", async () => {
  assert.is(await check("elevenchars"), "too_short");
  assert.is(await check("twelve chars"), undefined);
  // Six pairs of surrogates are six characters.
  assert.is(await check("🐇".repeat(11)), "too_short");
  assert.is(await check("🐇".repeat(12)), undefined);
  assert.is(await check("  spaces 字 and letters  "), undefined);
});

test("a password that is longer than the maximum is refused before anything is computed", async () => {
  const asked: string[] = [];
  const isBreached = (password: string) => asked.push(password) > 0;
  const policy = completePasswordPolicy({ minLength: 1, maxLength: 20, isBreached });
  assert.is(await check("x".repeat(21), policy), "too_long");
  assert.equal(asked, []);
  assert.is(await check("x".repeat(1024)), undefined);
  assert.is(await check("x".repeat(1025)), "too_long");
});

test("the user name, the e-mail address and its local part are no passwords, however they are written", async () => {
  for (
    const own of [
      "Alice.Liddell",
      "aLICE.lIDDELL",
      "ａｌｉｃｅ.liddell",
      "ALICE.of.Wonderland@example.com",
      "alice.of.wonderland",
    ]
  ) {
    assert.is(await check(own), "same_as_name", own);
  }
  assert.is(await check("alice.liddell.and.more"), undefined);
  assert.is(
    await checkNewPassword(completePasswordPolicy({ minLength: 1 }), "x", { username: "a", email: "" }),
    undefined,
  );
});

test("a breached password is refused, and a list that cannot be read is no reason to accept one", async () => {
  const policy = completePasswordPolicy({ isBreached: (password) => password === "correct horse" });
  assert.is(await check("correct horse", policy), "breached");
  assert.is(await check("Correct horse", policy), undefined);
  const broken = completePasswordPolicy({ isBreached: () => Promise.reject(new Error("gone")) });
  const error = await check("correct horse", broken).catch((error) => error);
  assert.is(error.message, "gone");
});

test("a policy with impossible lengths is refused at the start", () => {
  for (
    const policy of [{ minLength: 0 }, { minLength: 1.5 }, { minLength: 20, maxLength: 10 }, {
      maxLength: 2000,
    }]
  ) {
    assert.throws(() => completePasswordPolicy(policy), (error: unknown) => error instanceof RangeError);
  }
});

test.run();
