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

const HOSTILE: Readonly<Record<string, (count: number) => string>> = {
  "unclosed tags": (count) => "<input a".repeat(count),
  "unclosed quotes": (count) => `<form ${"<a '".repeat(count)}`,
  "unclosed scripts": (count) => "<script".repeat(count),
  "unclosed comments": (count) => "<!--".repeat(count),
  "very many forms": (count) => "<form id=a><input form=b>".repeat(count / 4),
  "angle brackets alone": (count) => "<".repeat(count * 8),
  "unclosed buttons": (count) => "<form>" + "<button>".repeat(count),
};

/** The shortest of two durations, so that work of other processes counts less. At least 20 ms. */
function durationOf(html: string): number {
  return Math.max(
    20,
    Math.min(...Array.from({ length: 2 }, () => {
      const start = performance.now();
      parsePage(html);
      return performance.now() - start;
    })),
  );
}

for (const [name, repeat] of Object.entries(HOSTILE)) {
  test(`the time for ${name} is not quadratic in their number`, () => {
    const [few, many] = [durationOf(repeat(4_000)), durationOf(repeat(64_000))];
    // 16 times as many take 16 times as long where the time is linear, and 256 times where it is quadratic.
    assert.ok(many / few < 100, `${few} ms, then ${many} ms`);
  });
}

test.run();
