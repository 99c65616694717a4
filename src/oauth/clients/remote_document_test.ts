import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type PublicDocument, PublicFetchError } from "../../http/network/public_fetch.ts";
import { OAuthError } from "../error.ts";
import { createRemoteDocuments } from "./remote_document.ts";

const test = suite("oauth/remote_document");
const HOUR = 3_600_000;
const URL = "https://client.example/doc";

function newDocuments(answer: (url: string) => Promise<string> | string) {
  let time = 1_000_000;
  const fetched: string[] = [];
  const documents = createRemoteDocuments(async (url): Promise<PublicDocument> => {
    fetched.push(url);
    return { text: await answer(url), headers: new Headers(), status: 200 };
  }, () => time);
  const get = (url = URL, more: { network?: string; isKnown?: boolean; maxAge?: number } = {}) =>
    documents.get({
      kind: "client",
      url,
      network: undefined,
      isKnown: false,
      read: ({ text }) => ({ value: text, lifetime: HOUR }),
      ...more,
    }).then(({ value }) => value, (error) => error);
  return { documents, fetched, get, advance: (ms: number) => void (time += ms) };
}
const fails = () => Promise.reject(new PublicFetchError("status 404"));
const waitOf = (error: unknown): number => {
  assert.instance(error, OAuthError);
  assert.equal([(error as OAuthError).code, (error as OAuthError).status], ["temporarily_unavailable", 429]);
  return Number(new Map((error as OAuthError).fields).get("retry-after"));
};

test("a copy is used until it expires or is older than maxAge", async () => {
  const { fetched, get, advance } = newDocuments(() => "x");
  await get();
  advance(HOUR - 1);
  assert.is(await get(), "x");
  assert.is(fetched.length, 1);
  assert.is(await get(URL, { maxAge: HOUR }), "x");
  assert.is(fetched.length, 1);
  await get(URL, { maxAge: 1000 });
  assert.is(fetched.length, 2);
  advance(HOUR);
  await get();
  assert.is(fetched.length, 3);
});

test("concurrent requests for a document fetch it once", async () => {
  let answer: (text: string) => void;
  const { fetched, get } = newDocuments(() => new Promise((resolve) => answer = resolve));
  const all = Array.from({ length: 50 }, () => get());
  await new Promise((resolve) => setTimeout(resolve, 5));
  answer!("x");
  assert.equal(new Set(await Promise.all(all)), new Set(["x"]));
  assert.is(fetched.length, 1);
});

test("after failures a URL is not fetched for a growing time, also by concurrent requests", async () => {
  const { fetched, get, advance } = newDocuments(fails);
  const answers = await Promise.all(Array.from({ length: 30 }, () => get()));
  assert.is(fetched.length, 3);
  assert.is(answers.filter((each) => each instanceof PublicFetchError).length, 3);
  let before = 0;
  for (let i = 0; i < 4; i++) {
    const wait = waitOf(await get(URL, { isKnown: true }));
    assert.ok(wait > before, `${wait}`);
    before = wait;
    advance(wait * 1000);
    await get();
  }
  assert.is(fetched.length, 7);
});

test("a success after failures is used and resets their count", async () => {
  let good = false;
  const { fetched, get } = newDocuments(() => good ? "x" : fails());
  await get();
  await get();
  good = true;
  assert.is(await get(), "x", "an error response is not cached");
  assert.is(fetched.length, 3);
});

test("a copy that was fetched before the clock was set back is fetched again", async () => {
  const { fetched, get, advance } = newDocuments(() => "x");
  await get();
  advance(-30_000);
  await get();
  assert.is(fetched.length, 1);
  advance(-HOUR);
  await get();
  await get(URL, { maxAge: 1000 });
  assert.is(fetched.length, 2);
});

test("a clock that is set back does not prolong the time without fetches", async () => {
  const { fetched, get, advance } = newDocuments(fails);
  for (let i = 0; i < 4; i++) await get();
  advance(-24 * HOUR);
  await get();
  assert.is(fetched.length, 4);
});

test("unknown clients have a fetch budget, which ports of one host share; known URLs do not use it", async () => {
  const { fetched, get } = newDocuments(fails);
  for (let i = 0; i < 200; i++) {
    await get(`https://victim.example:${10_000 + i}/x`, { network: "203.0.113.1" });
  }
  assert.is(fetched.length, 10);
  waitOf(await get("https://victim.example/y", { network: "203.0.113.1" }));
  assert.instance(await get("https://victim.example/z", { isKnown: true }), PublicFetchError);
});

test("callers with an unknown address do not share one budget", async () => {
  const { fetched, get } = newDocuments(fails);
  for (let i = 0; i < 180; i++) await get(`https://h${i}.example/x`);
  assert.is(fetched.length, 180);
});

test("the number and bytes of copies are limited, in all and per host", async () => {
  const { documents, get } = newDocuments(() => "x".repeat(8000));
  await get("https://honest.example/doc", { isKnown: true });
  for (let i = 0; i < 300; i++) await get(`https://evil.example/${i}`, { isKnown: true });
  const ofOneHost =
    Array.from({ length: 300 }, (_, i) => documents.find("client", `https://evil.example/${i}`))
      .filter(Boolean).length;
  assert.ok(ofOneHost >= 20 && ofOneHost * 8000 <= 256 * 1024, `${ofOneHost}`);
  assert.ok(documents.find("client", "https://honest.example/doc"));
  for (let i = 0; i < 2000; i++) await get(`https://h${i}.example/`, { isKnown: true });
  const all = Array.from({ length: 2000 }, (_, i) => documents.find("client", `https://h${i}.example/`))
    .filter(Boolean).length;
  assert.ok(all >= 400 && all * 8000 <= 4 * 1024 * 1024, `${all}`);
});

test("a document and keys with the same URL have separate copies", async () => {
  const { documents, get } = newDocuments(() => "x");
  await get();
  assert.is(documents.find("keys", URL), undefined);
});

test.run();
