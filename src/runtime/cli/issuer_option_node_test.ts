import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore } from "../../mod.ts";
import { parseIssuer } from "./issuer_option.ts";
import { UsageError } from "./output.ts";

const test = suite("cli/issuer_option");

for (
  const issuer of [
    "https://a.example",
    "https://a.example/",
    "https://a.example:8443/b",
    "https://a.example/b/",
    "http://127.0.0.1:8787",
    "http://[::1]:8787",
    "https://xn--bcher-kva.example",
  ]
) {
  test(`${issuer} is accepted`, () => {
    assert.is(parseIssuer(issuer), issuer);
    assert.ok(createTrivet({ issuer, store: memoryStore() }));
  });
}

for (
  const [issuer, canonical] of [
    ["https://A.example", "https://a.example"],
    ["HTTPS://a.example/B/", "https://a.example/B/"],
    ["https://a.example:443", "https://a.example"],
    ["https://a.example:443/", "https://a.example/"],
    ["https://bücher.example", "https://xn--bcher-kva.example"],
    ["https://a.example/b/../c", "https://a.example/c"],
    ["http://127.1:8787", "http://127.0.0.1:8787"],
  ] as const
) {
  test(`${issuer} is refused, naming ${canonical}`, () => {
    const error = fail(() => parseIssuer(issuer));
    assert.instance(error, UsageError);
    assert.match(error.message, `"${canonical}"`);
    assert.match(fail(() => createTrivet({ issuer, store: memoryStore() })).message, `"${canonical}"`);
  });
}

test("what is no issuer is not accepted in any form", () => {
  for (const text of ["", "a.example", "http://A.example", "https://A.example?b", "ftp://a.example"]) {
    assert.is(parseIssuer(text), undefined, text);
  }
});

/** What a call throws. */
function fail(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}

test.run();
