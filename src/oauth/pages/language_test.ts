import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../../http/test_loop_watchdog.ts";
import { chooseLanguage } from "./language.ts";

const test = suite("oauth/pages/language");

function choose(field: string | undefined, query = "", ui_locales?: string) {
  const headers: Record<string, string> = field === undefined ? {} : { "accept-language": field };
  return chooseLanguage(new Request(`https://as.example/login${query}`, { headers }), ui_locales);
}

for (
  const [field, language] of [
    [undefined, "en"],
    ["", "en"],
    ["de", "de"],
    ["de-AT", "de"],
    ["DE-ch-1996", "de"],
    ["den", "en"],
    ["fr, de;q=0.5, en;q=0.3", "de"],
    ["fr, de;q=0.3, en;q=0.5", "en"],
    ["en-GB,en;q=0.9,de;q=0.8", "en"],
    ["de ; q=0.9 , en ; q=0.8", "de"],
    ["en;q=0.5, de;q=0.5", "en"],
    ["de;q=0.5, en;q=0.5", "de"],
    ["de;q=0, en", "en"],
    ["en;q=0, de;q=0.001", "de"],
    ["en;q=0, *", "de"],
    ["de;q=0, *", "en"],
    ["*", "en"],
    ["*, de;q=0.5", "en"],
    ["de;q=2, en;q=0.1", "en"],
    ["de;q=x, en;q=0.1", "en"],
    ["de-AT;q=0, de;q=0.9", "de"],
    ["fr", "en"],
    ["en;q=0", "en"],
    [",,;;q=1,", "en"],
  ] as const
) {
  test(`Accept-Language: ${field} is answered in ${language}`, () => assert.is(choose(field), language));
}

test("attack: white space in Accept-Language does not hold the event loop", async () => {
  await assertLoopIsFree(() => assert.is(choose(`fr${" ".repeat(15_000)}x, de`), "de"));
});

test("ui_locales counts before Accept-Language, and one that there is not is ignored", () => {
  assert.is(choose("en", "", "fr de-AT en"), "de");
  assert.is(choose("de", "", "en"), "en");
  assert.is(choose("de", "", "fr ja"), "de");
  assert.is(choose("de", "", ""), "de");
});

test("ui_locales is found in the query, and in the request that the sign-in leads back to", () => {
  assert.is(choose("en", "?ui_locales=de"), "de");
  const redirect = "/oauth/authorize?client_id=a&ui_locales=fr%20de";
  assert.is(choose("en", `?redirect=${encodeURIComponent(redirect)}`), "de");
  assert.is(choose("en", `?redirect=${encodeURIComponent("/oauth/authorize?client_id=a")}`), "en");
});

test("the fallback of the operator is the language for a browser that asks for none that there is", () => {
  const request = (field?: string) =>
    new Request("https://as.example/", field === undefined ? {} : { headers: { "accept-language": field } });
  assert.is(chooseLanguage(request(), undefined, "de"), "de");
  assert.is(chooseLanguage(request("fr, *;q=0.1"), undefined, "de"), "de");
  assert.is(chooseLanguage(request("fr, en;q=0.1"), undefined, "de"), "en");
});

test.run();
