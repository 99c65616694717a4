import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type PublicDocument, PublicFetchError } from "../../http/network/public_fetch.ts";
import { OAuthError } from "../error.ts";
import { createRemoteDocuments } from "./remote_document.ts";

const test = suite("oauth/remote_document");
const HOUR = 3_600_000;
const URL = "https://client.example/doc";

function newWorld(answer: (url: string) => Promise<string> | string) {
  let time = 1_000_000;
  const asked: string[] = [];
  const documents = createRemoteDocuments(async (url): Promise<PublicDocument> => {
    asked.push(url);
    return { text: await answer(url), headers: new Headers() };
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
  return { documents, asked, get, advance: (ms: number) => void (time += ms) };
}
const fails = () => Promise.reject(new PublicFetchError("The address answered 404, not 200"));
const waitOf = (error: unknown): number => {
  assert.instance(error, OAuthError);
  assert.equal([(error as OAuthError).code, (error as OAuthError).status], ["temporarily_unavailable", 429]);
  return Number(new Map((error as OAuthError).fields).get("retry-after"));
};

test("a copy is used until it is over, or older than asked for", async () => {
  const { asked, get, advance } = newWorld(() => "x");
  await get();
  advance(HOUR - 1);
  assert.is(await get(), "x");
  assert.is(asked.length, 1);
  assert.is(await get(URL, { maxAge: HOUR }), "x");
  assert.is(asked.length, 1);
  await get(URL, { maxAge: 1000 });
  assert.is(asked.length, 2);
  advance(HOUR);
  await get();
  assert.is(asked.length, 3);
});

test("what is wanted by many at once is fetched once", async () => {
  let answer: (text: string) => void;
  const { asked, get } = newWorld(() => new Promise((resolve) => answer = resolve));
  const all = Array.from({ length: 50 }, () => get());
  await new Promise((resolve) => setTimeout(resolve, 5));
  answer!("x");
  assert.equal(new Set(await Promise.all(all)), new Set(["x"]));
  assert.is(asked.length, 1);
});

test("an address that fails is left alone, each time for longer, and by those who wait for it at once too", async () => {
  const { asked, get, advance } = newWorld(fails);
  const answers = await Promise.all(Array.from({ length: 30 }, () => get()));
  assert.is(asked.length, 3);
  assert.is(answers.filter((each) => each instanceof PublicFetchError).length, 3);
  let before = 0;
  for (let i = 0; i < 4; i++) {
    const wait = waitOf(await get(URL, { isKnown: true }));
    assert.ok(wait > before, `${wait}`);
    before = wait;
    advance(wait * 1000);
    await get();
  }
  assert.is(asked.length, 7);
});

test("after a failure the next good answer is used, and the failures are forgotten", async () => {
  let good = false;
  const { asked, get } = newWorld(() => good ? "x" : fails());
  await get();
  await get();
  good = true;
  assert.is(await get(), "x", "an error response is not cached");
  assert.is(asked.length, 3);
});

test("a clock that goes back does not leave an address alone for as long", async () => {
  const { asked, get, advance } = newWorld(fails);
  for (let i = 0; i < 4; i++) await get();
  advance(-24 * HOUR);
  await get();
  assert.is(asked.length, 4);
});

test("unknown clients have a fetch budget, for all ports; known URLs do not use it", async () => {
  const { asked, get } = newWorld(fails);
  for (let i = 0; i < 200; i++) {
    await get(`https://victim.example:${10_000 + i}/x`, { network: "203.0.113.1" });
  }
  assert.is(asked.length, 10);
  waitOf(await get("https://victim.example/y", { network: "203.0.113.1" }));
  assert.instance(await get("https://victim.example/z", { isKnown: true }), PublicFetchError);
});

test("callers whose address is not known are not one caller", async () => {
  const { asked, get } = newWorld(fails);
  for (let i = 0; i < 180; i++) await get(`https://h${i}.example/x`);
  assert.is(asked.length, 180);
});

test("what is kept is bounded by number and bytes, and one host has its share", async () => {
  const { documents, get } = newWorld(() => "x".repeat(8000));
  await get("https://honest.example/doc", { isKnown: true });
  for (let i = 0; i < 300; i++) await get(`https://evil.example/${i}`, { isKnown: true });
  const held = Array.from({ length: 300 }, (_, i) => documents.find("client", `https://evil.example/${i}`))
    .filter(Boolean).length;
  assert.ok(held >= 20 && held * 8000 <= 256 * 1024, `${held}`);
  assert.ok(documents.find("client", "https://honest.example/doc"));
  for (let i = 0; i < 2000; i++) await get(`https://h${i}.example/`, { isKnown: true });
  const all = Array.from({ length: 2000 }, (_, i) => documents.find("client", `https://h${i}.example/`))
    .filter(Boolean).length;
  assert.ok(all >= 400 && all * 8000 <= 4 * 1024 * 1024, `${all}`);
});

test("a document and keys at one address are two things", async () => {
  const { documents, get } = newWorld(() => "x");
  await get();
  assert.is(documents.find("keys", URL), undefined);
});

test.run();
