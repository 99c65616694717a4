import { suite } from "uvu";
import * as assert from "uvu/assert";
import { checkPublicUrl, createPublicFetch, PublicFetchError } from "./public_fetch.ts";

const test = suite("http/public_fetch");

for (
  const url of [
    "http://client.example/doc",
    "ftp://client.example/doc",
    "file:///etc/passwd",
    "client.example/doc",
    "https://user@client.example/doc",
    "https://user:pass@client.example/doc",
    "https://client.example/doc#part",
    "https://localhost/doc",
    "https://LOCALHOST/doc",
    "https://a.localhost/doc",
    "https://localhost./doc",
    "https://intranet/doc",
    "https://printer.local/doc",
    "https://vault.internal/doc",
    "https://nas.home.arpa/doc",
    "https://127.0.0.1/doc",
    "https://127.1/doc",
    "https://0x7f.1/doc",
    "https://2130706433/doc",
    "https://0177.0.0.1/doc",
    "https://169.254.169.254/latest/meta-data/",
    "https://10.0.0.1/doc",
    "https://[::1]/doc",
    "https://[::ffff:127.0.0.1]/doc",
    "https://[::ffff:7f00:1]/doc",
    "https://[fd00::1]/doc",
  ]
) {
  test(`${url} is refused without a connection`, async () => {
    assert.ok(checkPublicUrl(url));
    let connections = 0;
    const get = createPublicFetch({ connect: () => (connections++, Promise.resolve(new Response("{}"))) });
    assert.instance(await get(url).catch((error) => error), PublicFetchError);
    assert.is(connections, 0);
  });
}

const URL_OF_DOC = "https://client.example/doc";
const failure = async (response: () => Response | Promise<Response>, options = {}): Promise<string> => {
  const get = createPublicFetch({ connect: () => Promise.resolve(response()), ...options });
  const error = await get(URL_OF_DOC).then(() => "accepted", (error) => error);
  assert.instance(error, PublicFetchError);
  return error.message;
};

test("a document is read whole, and the request follows no redirects and sends no credentials", async () => {
  const get = createPublicFetch({
    connect: (url, init) => {
      assert.is(url, URL_OF_DOC);
      assert.is(init.redirect, "manual");
      assert.equal(init.headers, { accept: "application/json" });
      return Promise.resolve(new Response('{"ä":1}', { headers: { "cache-control": "max-age=60" } }));
    },
  });
  const { text, headers } = await get(URL_OF_DOC);
  assert.is(text, '{"ä":1}');
  assert.is(headers.get("cache-control"), "max-age=60");
});

for (const status of [201, 301, 302, 307, 404, 500]) {
  test(`a response with status ${status} is refused`, async () => {
    const headers = { location: "https://127.0.0.1/" };
    assert.match(await failure(() => new Response("{}", { status, headers })), String(status));
  });
}

test("a document over the limit is refused and not read further, also without Content-Length", async () => {
  let sent = 0;
  const endless = new ReadableStream({
    pull(controller) {
      sent += 1024;
      controller.enqueue(new Uint8Array(1024).fill(32));
    },
  });
  assert.match(await failure(() => new Response(endless)), "10240 bytes");
  assert.ok(sent < 20_000, `${sent}`);
});

test("a timeout above the maximum of timers does not expire at once", async () => {
  for (const timeout of [3e9, Infinity]) {
    const connect = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return new Response("{}");
    };
    assert.is((await createPublicFetch({ connect, timeout })(URL_OF_DOC)).text, "{}");
  }
});

test("a body that arrives too slowly times out", async () => {
  let timer: ReturnType<typeof setInterval>;
  const drip = new ReadableStream({
    start(controller) {
      timer = setInterval(() => controller.enqueue(new Uint8Array([32])), 10);
    },
    cancel: () => clearInterval(timer),
  });
  assert.match(await failure(() => new Response(drip), { timeout: 150 }), "150 ms");
});

test("a connection that ignores the abort signal times out, and its late response is cancelled", async () => {
  let cancelled = 0;
  const body = new ReadableStream({ cancel: () => void cancelled++ });
  const slow = () => new Promise<Response>((resolve) => setTimeout(() => resolve(new Response(body)), 120));
  assert.match(await failure(slow, { timeout: 40 }), "40 ms");
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.is(cancelled, 1);
});

test("the cancellation of a refused response is not awaited", async () => {
  const stuck = new ReadableStream({ cancel: () => new Promise(() => {}) });
  assert.match(await failure(() => new Response(stuck, { status: 404 })), "404");
});

test("a body that is not UTF-8 and a failing connection are refused", async () => {
  await failure(() => new Response(new Uint8Array([0xff, 0xfe])));
  await failure(() => Promise.reject(new TypeError("refused")));
});

test.run();
