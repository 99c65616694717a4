import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { beforeNextCommit, interruptAfter } from "../../store/test_meanwhile.ts";
import { slowCommits } from "../../store/test_slow_commits.ts";
import { isSignedIn, linkOf, type MailServer, newMailServer } from "../mail/test_mailbox.ts";
import { invitationKey, type User, userKey } from "../records/user_record.ts";
import { ISSUER } from "../test_server.ts";
import { type InvitationRequest, inviteUser, listInvitations, revokeInvitation } from "./invitation.ts";

const test = suite("oauth/invitation");
const CAROL = { username: "carol", name: "Carol", email: "", password: "higher further faster" };
const MODE = { signUp: { passwords: "invitation", providers: "invitation" } } as const;

const invite = async ({ store }: MailServer, request: InvitationRequest = {}) =>
  `${ISSUER}/login/invitation?token=${(await inviteUser(store, request)).token}`;

async function userOf({ store }: MailServer, username: string): Promise<User | undefined> {
  const index = await store.get<string>(["username", username]);
  return index && (await store.get<User>(userKey(index.value)))?.value;
}

test("an invitation makes an account with its role, signs in, and is used up", async () => {
  const server = await newMailServer({ ...MODE, sendMail: undefined });
  const link = await invite(server, { role: "author" });
  const browser = server.browser();
  assert.is((await browser.follow(link)).status, 200);
  const response = await browser.open("/login/sign-up?redirect=/device", { form: CAROL });
  assert.equal([response.status, response.headers.get("location")], [302, "/device"]);
  const carol = (await userOf(server, "carol"))!;
  assert.equal([carol.role, carol.email_verified], ["author", undefined]);
  assert.equal(await Array.fromAsync(listInvitations(server.store)), []);
  const event = server.events.find(({ type }) => type === "user_registered");
  assert.match(JSON.stringify(event), carol.id);
  const again = server.browser();
  assert.is((await again.follow(link)).status, 403);
  assert.is((await again.open("/login/sign-up", { form: { ...CAROL, username: "dave" } })).status, 403);
});

test("concurrent uses of one invitation make one account", async () => {
  const server = await newMailServer({ ...MODE, store: slowCommits(memoryStore()) });
  const link = await invite(server);
  const browsers = Array.from({ length: 6 }, () => server.browser());
  for (const browser of browsers) await browser.follow(link);
  const responses = await Promise.all(
    browsers.map((browser, i) =>
      browser.open("/login/sign-up", { form: { ...CAROL, username: `carol${i}` }, ip: `203.0.113.${i}` })
    ),
  );
  assert.is(responses.filter(isSignedIn).length, 1);
  const made = await Promise.all(browsers.map((_, i) => userOf(server, `carol${i}`)));
  assert.is(made.filter(Boolean).length, 1);
});

test("without an invitation, and with one that is revoked, expired or changed, no one signs up", async () => {
  const server = await newMailServer(MODE);
  const { invitation, token } = await inviteUser(server.store, { lifetime: 60 });
  assert.ok(await revokeInvitation(server.store, invitation.id));
  assert.not(await revokeInvitation(server.store, invitation.id));
  const expired = await invite(server, { lifetime: 60 });
  server.advance(61);
  const other = await invite(server);
  const changed = other.slice(0, -43) + "A".repeat(43);
  for (
    const link of [
      `${ISSUER}/login/invitation?token=${token}`,
      expired,
      changed,
      `${ISSUER}/login/invitation`,
    ]
  ) {
    const browser = server.browser();
    const page = await browser.follow(link);
    assert.ok(page.status === 403 || page.status === 400, link);
    assert.is((await browser.open("/login/sign-up", { form: CAROL })).status, 403, link);
  }
  assert.is((await server.browser().open("/login/sign-up")).status, 403);
  assert.is(await userOf(server, "carol"), undefined);
});

test("after an interruption the account is there, or the form can be sent again; no page denies the account", async () => {
  for (let commits = 0, isDone = false; !isDone; commits++) {
    const server = await newMailServer(MODE);
    const browser = server.browser();
    await browser.follow(await invite(server));
    const restore = interruptAfter(server.store, commits);
    const { status } = await browser.open("/login/sign-up", { form: CAROL });
    isDone = !restore();
    const again = status === 503 ? await browser.open("/login/sign-up", { form: CAROL }) : undefined;
    if (again && again.status !== 302) {
      assert.match(await again.text(), "no longer valid", `${commits} commits`);
    }
    assert.ok(await userOf(server, "carol"), `${commits} commits`);
    assert.ok(commits < 20);
  }
});

test("a form creates the account that its page showed, whichever invitation was opened since", async () => {
  for (const first of [{ email: "carol@example.com", role: "author" }, undefined] as const) {
    const server = await newMailServer({ signUp: { passwords: "open", providers: "closed" } });
    const browser = server.browser();
    const actionOf = async (page: Response) => /action="([^"]+)"/.exec(await page.text())![1]!;
    const page = first
      ? await browser.follow(await invite(server, first))
      : await browser.open("/login/sign-up");
    const action = await actionOf(page);
    await browser.follow(await invite(server, { email: "evil@example.com", mailed: true }));
    const again = await browser.open(action, { form: { ...CAROL, email: "carol@example.com" } });
    assert.is(again.status, 409);
    assert.is(await userOf(server, "carol"), undefined);
    const text = await again.text();
    assert.match(text, "evil@example.com");
    const shown = /action="([^"]+)"/.exec(text)![1]!;
    assert.ok(isSignedIn(await browser.open(shown, { form: CAROL })));
    assert.is((await userOf(server, "carol"))!.email, "evil@example.com");
  }
});

test("an invitation that is used while it is revoked was not revoked", async () => {
  const { store } = await newMailServer(MODE);
  const { invitation } = await inviteUser(store);
  beforeNextCommit(store, () => store.commit({ remove: [invitationKey(invitation.id)] }));
  assert.is(await revokeInvitation(store, invitation.id), false);
});

test("the address of an invitation cannot be changed, and is verified when the link was sent there only", async () => {
  for (const mailed of [true, false]) {
    const server = await newMailServer(MODE);
    const browser = server.browser();
    const page = await browser.follow(await invite(server, { email: "carol@example.com", mailed }));
    assert.not.match(await page.text(), 'name="email"');
    await browser.open("/login/sign-up", { form: { ...CAROL, email: "evil@example.com" } });
    const carol = (await userOf(server, "carol"))!;
    assert.is(carol.email, "carol@example.com");
    assert.is(carol.email_verified !== undefined, mailed);
    // The other address is verified by a mail.
    assert.equal(
      server.mails.map(({ kind, to }) => [kind, to]),
      mailed ? [] : [
        ["email_verification", "carol@example.com"],
      ],
    );
    if (!mailed) assert.ok(linkOf(server.mails[0]));
  }
});

test("with an invitation a network learns few user names", async () => {
  const server = await newMailServer(MODE);
  const browser = server.browser();
  await browser.follow(await invite(server));
  const statuses: number[] = [];
  for (let i = 0; i < 40; i++) {
    statuses.push((await browser.open("/login/sign-up", { form: { ...CAROL, username: "alice" } })).status);
  }
  assert.ok(statuses.filter((status) => status === 409).length <= 20, String(statuses));
  assert.ok(statuses.includes(429));
});

test("a refused form leaves the invitation valid", async () => {
  const server = await newMailServer(MODE);
  const browser = server.browser();
  await browser.follow(await invite(server));
  assert.is((await browser.open("/login/sign-up", { form: { ...CAROL, password: "short" } })).status, 400);
  assert.is((await browser.open("/login/sign-up", { form: { ...CAROL, username: "alice" } })).status, 409);
  assert.ok(isSignedIn(await browser.open("/login/sign-up", { form: CAROL })));
});

test("the token is in no record, no event and no page, and leaves the URL at once", async () => {
  const server = await newMailServer(MODE);
  const link = await invite(server, { email: "carol@example.com" });
  const token = link.split("token=")[1]!;
  const moved = await server.request(link);
  assert.equal([moved.status, moved.headers.get("location")], [303, "/login/sign-up"]);
  const page = await server.browser().follow(link);
  assert.not.match(await page.text(), token);
  assert.not.match(JSON.stringify([await server.store.list([]), server.events]), token.split(".")[1]!);
});

test("invitations are listed without their digests, and invalid ones are refused", async () => {
  const server = await newMailServer(MODE);
  const { invitation } = await inviteUser(server.store, { email: "carol@example.com", role: "admin" });
  assert.equal(await Array.fromAsync(listInvitations(server.store)), [invitation]);
  assert.not("digest" in invitation);
  for (
    const request of [
      { email: "no address" },
      { role: "root" },
      { lifetime: 0 },
      { lifetime: 1e9 },
      { mailed: true },
    ] as InvitationRequest[]
  ) {
    const error = await inviteUser(server.store, request).catch((error) => error);
    assert.ok(error instanceof TypeError || error instanceof RangeError, JSON.stringify(request));
  }
});

test.run();
