import { suite } from "uvu";
import * as assert from "uvu/assert";
import { contrast, parseColor } from "./color.ts";
import { completePages, type PageOptions } from "./settings.ts";

const test = suite("oauth/pages/settings");

test("colours are hex, rgb and hsl without transparency; nothing else gets into the style sheet", () => {
  assert.equal(parseColor("#fff"), [255, 255, 255]);
  assert.equal(parseColor("#0b5D4e"), [11, 93, 78]);
  assert.equal(parseColor("rgb(1, 2, 3)"), [1, 2, 3]);
  assert.equal(parseColor("rgb(1 2 3)"), [1, 2, 3]);
  assert.equal(parseColor("hsl(0 100% 50%)"), [255, 0, 0]);
  assert.equal(parseColor("hsl(210deg, 50%, 40%)"), [51, 102, 153]);
  for (
    const text of [
      "",
      "red",
      "#ff",
      "#fffff",
      "#0b5d4e80",
      "rgb(256,0,0)",
      "rgb(1,2)",
      "hsl(400 1% 1%)",
      "hsl(0 101% 1%)",
      "#fff;}*{background:url(//evil.example)}",
      "#fff\n",
      "rgb(1,2,3)}",
      "</style>",
    ]
  ) {
    assert.is(parseColor(text), undefined, text);
    assert.throws(() => completePages({ colors: { accent: text } }), /oauth\.pages\.colors\.accent/);
  }
});

test("contrast is measured as WCAG 2.2 defines it", () => {
  const ratio = (a: string, b: string) => Number(contrast(parseColor(a)!, parseColor(b)!).toFixed(2));
  assert.is(ratio("#000", "#fff"), 21);
  assert.is(ratio("#fff", "#fff"), 1);
  assert.is(ratio("#777", "#fff"), 4.48);
  assert.is(ratio("#fff", "#767676"), 4.54);
});

test("a colour with too little contrast is refused at start, with its ratio", () => {
  assert.throws(() => completePages({ colors: { accent: "#777" } }), /accent.*4\.5:1.*4\.48:1/);
  assert.throws(() => completePages({ colors: { accentDark: "#333" } }), /accentDark.*4\.5:1/);
  assert.throws(() => completePages({ colors: { background: "#888" } }), /background.*4\.5:1/);
  assert.throws(() => completePages({ colors: { backgroundDark: "#888" } }), /backgroundDark.*4\.5:1/);
  assert.is(completePages({ colors: { accent: "#767676" } }).light.accent, "#767676");
});

test("the accent of dark mode follows from the accent, and text on an accent is readable in both modes", () => {
  for (const accent of [undefined, "#000", "#00f", "#8a0000", "#0b5d4e", "#5b2a86", "#767676"]) {
    const { light, dark } = completePages(accent === undefined ? {} : { colors: { accent } });
    for (const { accent, onAccent, surface, background, text, soft } of [light, dark]) {
      const pairs = [[accent, surface], [onAccent, accent], [text, surface], [soft, surface], [
        soft,
        background,
      ]];
      for (const [a, b] of pairs) assert.ok(contrast(parseColor(a!)!, parseColor(b!)!) >= 4.5, `${a} ${b}`);
    }
  }
});

for (
  const [name, options] of Object.entries({
    "name": { name: "" },
    "name with a line break": { name: "a\nb" },
    "logo by http": { logo: "http://a.example/logo.png" },
    "logo that is a script": { logo: "javascript:alert(1)" },
    "logo that is a page": { logo: "data:text/html,x" },
    "texts in an unknown language": { texts: { fr: {} } },
    "texts that are no string": { texts: { de: { signIn: 1 } } },
    "defaultLanguage": { defaultLanguage: "fr" },
    "sources by http": { sources: { style: ["http://a.example"] } },
    "sources with a directive": { sources: { image: ["https://a.example; script-src *"] } },
    "sources with a wildcard": { sources: { font: ["*"] } },
  })
) {
  test(`invalid ${name} is refused at start, naming the option`, () => {
    const option = name.split(" ")[0]!;
    assert.throws(
      () => completePages(options as unknown as PageOptions),
      (error: Error) => error instanceof TypeError && error.message.includes(`oauth.pages.${option}`),
    );
  });
}

test.run();
