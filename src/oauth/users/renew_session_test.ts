import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ENDED_SESSIONS, type Session, sessionKey } from "../records/session_record.ts";
import { newServer } from "../test_server.ts";
import { prepareRenewal } from "./renew_session.ts";
import { listUserSessions } from "./user_sessions.ts";

const test = suite("oauth/users/renew_session");

/** A signed-in user, and what `prepareRenewal` gets. */
async function newSession() {
  const server = await newServer();
  const cookie = await server.signIn();
  const user = (await server.store.list<{ id: string }>(["user"]))[0]!.value;
  const [session] = await listUserSessions(server.store, user.id);
  const as = {
    store: server.store,
    now: Date.now,
    sessionLifetime: 3600,
    sessionIdleLifetime: 1800,
    secure: true,
    base: "",
  };
  const signedIn = { session: session!.digest, user };
  const request = new Request("https://as.example/", { headers: { cookie } });
  const renew = async () => {
    const renewal = await prepareRenewal(as as never, request, signedIn as never);
    return renewal && await server.store.commit(renewal.changes) ? renewal : undefined;
  };
  const show = async (cookie: string) => (await server.send("/account", { headers: { cookie } })).status;
  return { server, cookie, user, session: session!, renew, show };
}

test("the session goes on under a new id, and the old one is refused", async () => {
  const { server, cookie, user, session, renew, show } = await newSession();
  const renewed = await renew();
  const next = renewed!.fields.map(([, field]) => field.split(";")[0]!).join("; ");
  assert.equal([await show(cookie), await show(next)], [302, 200]);
  const [now, ...others] = await listUserSessions(server.store, user.id);
  assert.equal(others, []);
  assert.equal(now, { ...session, digest: renewed!.session });
});

test("the session that a renewed one continues ends for its clients, and the renewed one is another", async () => {
  const { server, session, renew } = await newSession();
  const key = sessionKey(session.digest);
  const { value } = (await server.store.get<Session>(key))!;
  await server.store.commit({ set: [{ key, value: { ...value, origin: "first" } }] });
  const renewed = await renew();
  assert.equal((await server.store.list(ENDED_SESSIONS)).map(({ key }) => key.at(-1)), ["first"]);
  assert.is((await server.store.get<Session>(sessionKey(renewed!.session)))!.value.origin, undefined);
});

test("a session that has ended is not renewed", async () => {
  const { server, session, renew } = await newSession();
  await server.store.commit({ remove: [sessionKey(session.digest)] });
  assert.is(await renew(), undefined);
});

test.run();
