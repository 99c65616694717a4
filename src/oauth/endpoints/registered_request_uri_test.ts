/**
 * Request objects at a `request_uri` that the client registered (RFC 9101 section 5.2).
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "../clients/client.ts";
import { OBJECT_URL, open, signed, start, URI } from "./test_request_objects.ts";

const test = suite("oauth/registered_request_uri");

/** A server for a client whose request object is at a URL, and the requests that it made. */
async function startWithUrl(respond: () => Response | Promise<Response>, registered = [OBJECT_URL]) {
  const fetched: { url: string; accept: string | null; redirect: string | undefined }[] = [];
  const server = await start({ request_uris: registered }, {
    connect: (url, init) => {
      const accept = new Headers(init.headers).get("accept");
      fetched.push({ url, accept, redirect: init.redirect });
      return Promise.resolve(respond());
    },
  });
  return { server, fetched };
}

const asJwt = (text: string, type = "application/oauth-authz-req+jwt") =>
  new Response(text, { headers: { "content-type": type } });

test("RFC 9101 section 5.2: the object at a registered request_uri is fetched each time, without redirects", async () => {
  let object = await signed();
  const { server, fetched } = await startWithUrl(() => asJwt(object));
  assert.is((await open(server, { request_uri: OBJECT_URL, state: "query" })).answer!.get("state"), "signed");
  object = await signed({ state: "second" });
  assert.is((await open(server, { request_uri: OBJECT_URL })).answer!.get("state"), "second");
  const accept = "application/oauth-authz-req+jwt";
  assert.equal(fetched, Array(2).fill({ url: OBJECT_URL, accept, redirect: "manual" }));
});

test("RFC 9101 section 10.4: a request_uri that is not registered exactly is not fetched", async () => {
  const { server, fetched } = await startWithUrl(async () => asJwt(await signed()));
  for (
    const request_uri of [
      "https://signer.example/other.jwt",
      OBJECT_URL + "?x=1",
      OBJECT_URL + "#x",
      OBJECT_URL.toUpperCase(),
      "https://169.254.169.254/latest/meta-data",
      "http://signer.example/request.jwt",
      "file:///etc/passwd",
    ]
  ) {
    const { status, answer } = await open(server, { request_uri });
    assert.equal([status, answer], [400, null], request_uri);
  }
  const second = await open(server, { client_id: "second", request_uri: OBJECT_URL });
  assert.is(second.answer, null);
  assert.equal(fetched, []);
});

for (
  const [name, respond] of [
    ["another status", () => new Response("x", { status: 404 })],
    ["a redirect", () => new Response(null, { status: 302, headers: { location: "https://internal/" } })],
    ["another media type", async () => asJwt(await signed(), "text/html")],
    ["too large a document", () => asJwt("x".repeat(20_000))],
    ["no JWT", () => asJwt("{}")],
    ["an object of another client", async () => asJwt(await signed({ client_id: "second" }))],
  ] as const
) {
  test(`a request_uri that returns ${name} is refused without a redirect`, async () => {
    const { server, fetched } = await startWithUrl(respond);
    const { status, answer } = await open(server, { request_uri: OBJECT_URL, redirect_uri: URI });
    assert.equal([status, answer, fetched.length], [400, null, 1]);
  });
}

test("request_uris of the operator must be public https URLs, and a signature needs keys", () => {
  for (
    const uri of [
      "http://a.example/",
      "https://127.0.0.1/",
      "https://a.example/#x",
      `https://a.example/${"x".repeat(512)}`,
    ]
  ) {
    assert.throws(() => toClient({ id: "a", redirect_uris: [URI], request_uris: [uri] }, 0), /request_uris/);
  }
  assert.throws(
    () => toClient({ id: "a", redirect_uris: [URI], require_signed_request_object: true }, 0),
    /require_signed_request_object/,
  );
});

test.run();
