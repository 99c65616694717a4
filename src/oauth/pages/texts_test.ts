import { suite } from "uvu";
import * as assert from "uvu/assert";
import * as connectionsDe from "../account/connections/texts_de.ts";
import * as connectionsEn from "../account/connections/texts_en.ts";
import * as accountDe from "../account/texts_de.ts";
import * as accountEn from "../account/texts_en.ts";
import * as factorsDe from "../factors/pages/texts_de.ts";
import * as factorsEn from "../factors/pages/texts_en.ts";
import * as mailDe from "../mail/texts_de.ts";
import * as mailEn from "../mail/texts_en.ts";
import * as signUpDe from "../sign_up/texts_de.ts";
import * as signUpEn from "../sign_up/texts_en.ts";
import { OPENID_SCOPES } from "../openid/options.ts";
import { SCOPES } from "../../options/oauth_options.ts";
import * as basicDe from "./texts_de.ts";
import * as basicEn from "./texts_en.ts";

const test = suite("oauth/pages/texts");

type Module = { readonly TEXTS: Readonly<Record<string, string>> };
const MODULES: Readonly<Record<string, readonly [en: Module, de: Module]>> = {
  pages: [basicEn, basicDe],
  account: [accountEn, accountDe],
  connections: [connectionsEn, connectionsDe],
  factors: [factorsEn, factorsDe],
  mail: [mailEn, mailDe],
  sign_up: [signUpEn, signUpDe],
};

/** The names of the values that a text has room for. */
const placeholders = (text: string) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();

for (const [name, [{ TEXTS: en }, { TEXTS: de }]] of Object.entries(MODULES)) {
  test(`${name}: every text has a German one with the same placeholders`, () => {
    assert.equal(Object.keys(de).sort(), Object.keys(en).sort());
    for (const [key, text] of Object.entries(en)) {
      assert.is.not(text, "", key);
      assert.equal(placeholders(de[key]!), placeholders(text), key);
    }
  });
}

test("no two modules have a text of the same key: the option pages.texts replaces texts by key", () => {
  const keys = Object.values(MODULES).flatMap(([{ TEXTS }]) => Object.keys(TEXTS));
  assert.equal(keys.filter((key, i) => keys.indexOf(key) !== i), []);
});

test("Trivet's own scopes are translated", () => {
  for (const [scope, { description }] of Object.entries({ ...SCOPES, ...OPENID_SCOPES })) {
    assert.ok(basicDe.TRANSLATIONS[description], scope);
  }
});

test.run();
