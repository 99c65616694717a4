/**
 * The HTML page parser, with hostile pages.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parsePage } from "./page.ts";

const test = suite("page");

test("a form's fields, values and buttons", () => {
  const { forms: [form], text } = parsePage(`<!doctype html><title>not shown</title><style>p{}</style>
    <h1>Sign&nbsp;in</h1><form action="/go?a=1&amp;b=2" method=post>
    <input name=user value='a "quoted" one'><INPUT TYPE="password" NAME="pw"><input type=hidden name=csrf value="x&#45;y">
    <input type=checkbox name=keep value=yes><input type=checkbox name=on checked><input type=file name=f>
    <input name=off disabled><input type=radio name=r value=1><input type=radio name=r value=2 checked>
    <select name=s><option value=a>A<option selected>B b</select><textarea name=t> two
    words </textarea><button name=d value=yes>Yes,&nbsp;<b>please</b></button><button type=button>Nothing</button>
    <input type=submit value="No">
    </form>`);
  assert.equal([form!.action, form!.method], ["/go?a=1&b=2", "POST"]);
  assert.equal(form!.fields, [
    ["user", 'a "quoted" one'],
    ["pw", ""],
    ["csrf", "x-y"],
    ["on", "on"],
    ["r", "2"],
    ["s", "B b"],
    ["t", "two words"],
  ]);
  assert.ok(form!.names.has("keep"));
  assert.equal(form!.buttons.map(({ name, value, text }) => [name, value, text]), [
    ["d", "yes", "Yes, please"],
    ["", "No", "No"],
  ]);
  assert.match(text, /^Sign in/);
});

test("comments and scripts are ignored", () => {
  const { forms } = parsePage(
    `<!-- <form><input name=a></form> --><script>"<form><input name=b></form>"</script>
    <form><input name="c>d"></form><form id=two></form><input name=e form=two>`,
  );
  assert.equal(forms.map(({ fields }) => fields), [[["c>d", ""]], [["e", ""]]]);
});

test("a page with a refresh", () => {
  assert.is(parsePage('<meta http-equiv="Refresh" content="0; URL=/next">').refresh, "/next");
});

const HOSTILE: Readonly<Record<string, string>> = {
  "unclosed tags": "<input a".repeat(120_000),
  "unclosed quotes": `<form ${"<a '".repeat(200_000)}`,
  "unclosed scripts": "<script".repeat(140_000),
  "unclosed comments": "<!--".repeat(200_000),
  "a hundred thousand forms": "<form id=a><input form=b>".repeat(40_000),
  "angle brackets alone": "<".repeat(1_000_000),
  "unclosed buttons": "<form>" + "<button>".repeat(120_000),
};

for (const [name, html] of Object.entries(HOSTILE)) {
  test(`${name} are parsed within 3 s`, () => {
    const start = Date.now();
    parsePage(html);
    assert.ok(Date.now() - start < 3000, `${Date.now() - start} ms`);
  });
}

test.run();
