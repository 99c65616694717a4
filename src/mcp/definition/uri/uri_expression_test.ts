import { suite } from "uvu";
import * as assert from "uvu/assert";
import { variableNames } from "./uri_expression.ts";
import { compileUriTemplate } from "./uri_template.ts";

const test = suite("mcp/definition/uri/uri_expression");

for (
  const [template, part] of [
    ["{/id*", "{"],
    ["/id*}", "}"],
    ["{/?id}", "{/?id}"],
    ["{var:prefix}", "{var:prefix}"],
    ["{hello:2*}", "{hello:2*}"],
    ["{??hello}", "{??hello}"],
    ["{!hello}", "{!hello}"],
    ["{=path}", "{=path}"],
    ["{$var}", "{$var}"],
    ["{|var*}", "{|var*}"],
    ["{*keys?}", "{*keys?}"],
    ["{?empty=default,var}", "{?empty=default,var}"],
    ["{var}{-prefix|/-/|var}", "{-prefix|/-/|var}"],
    ["/h{#hello+}", "{#hello+}"],
    ["/people/{~thing}", "{~thing}"],
    ["/resolution{?x, y}", "{?x, y}"],
    ["/sparql{?query){&default*}", "{"],
    ["{a,}", "{a,}"],
    ["{a..b}", "{a..b}"],
    ["{.}", "{.}"],
    ["{}", "{}"],
    ["{a:0}", "{a:0}"],
    ["{a:10000}", "{a:10000}"],
    ["{a%2}", "{a%2}"],
    ["{{a}}", "{"],
    ["a b", " "],
    ["a%zz", "%"],
    ["<a>", "<"],
    ["a\ud800", "\ud800"],
  ] as const
) {
  test(`the error for an invalid template names the part: ${JSON.stringify(template)}`, () => {
    for (const use of [compileUriTemplate, variableNames]) {
      assert.throws(
        () => use(template),
        (error: Error) => error instanceof TypeError && error.message.includes(`": "${part}" `),
      );
    }
  });
}

test("variableNames() returns each name once, in order", () => {
  assert.equal(variableNames("a://{b}/{+c:3,a*}{?b,d}"), ["b", "c", "a", "d"]);
  assert.equal(variableNames("a://b"), []);
});

test.run();
