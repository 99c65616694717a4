import { test } from "uvu";
import * as assert from "uvu/assert";
import { renderPage } from "./page.ts";

const rows = [
  { name: "floor: <bare>", explanation: "Does & checks nothing.", perSecond: 12345 },
  {
    name: "Trivet",
    explanation: "Checks all.",
    perSecond: 5000,
    cpu: 12.3,
    ratio: 0.5,
    interval: { low: 0.45, high: 0.6 },
    others: ["8.0 MB <resident>"],
    noise: ["the interval is ±20 %"],
    baseline: "floor: <bare>",
    target: 0.8,
  },
  { name: "other", unsupported: "has no sessions" },
];
const page = renderPage({ Runtime: "Node" }, [{ title: "A <table>", rows }]);

test("the page loads nothing from elsewhere and has no script", () => {
  assert.not.match(page, /<script|<link|<img|https?:|url\(|@import/i);
  assert.match(page, 'name="viewport"');
  assert.match(page, "prefers-color-scheme: dark");
});

test("texts are escaped", () => {
  assert.match(page, "A &lt;table&gt;");
  assert.match(page, "Does &amp; checks nothing.");
  assert.not.match(page, "<bare>");
  assert.match(page, "8.0 MB &lt;resident&gt;");
});

test("a row shows its ratio, interval, other numbers, noise, target and explanation", () => {
  assert.match(page, "<b>0.50</b> (0.45 to 0.60)");
  assert.match(page, 'class="bar" y="15%" width="50.00%"');
  assert.match(page, 'class="interval" x1="45.00%" x2="60.00%"');
  assert.match(page, "Noisy: the interval is ±20 %");
  assert.match(page, "Target 0.80 missed");
  assert.match(page, "Checks all.");
  assert.match(page, "12,345 per second");
  assert.match(page, "Not supported: has no sessions");
});

test("a row without a ratio has no bar", () => {
  assert.is(page.split("<svg").length - 1, 1);
});

test.run();
