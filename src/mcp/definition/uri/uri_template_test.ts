import { suite } from "uvu";
import * as assert from "uvu/assert";
import { variableNames } from "./uri_expression.ts";
import { compileUriTemplate } from "./uri_template.ts";

const test = suite("mcp/uri_template");

/** The variables of RFC 6570 section 3.2. */
const VARIABLES: Readonly<
  Record<string, string | number | null | readonly string[] | Readonly<Record<string, string>>>
> = {
  count: ["one", "two", "three"],
  dom: ["example", "com"],
  dub: "me/too",
  hello: "Hello World!",
  half: "50%",
  var: "value",
  who: "fred",
  base: "http://example.com/home/",
  path: "/foo/bar",
  list: ["red", "green", "blue"],
  keys: { semi: ";", dot: ".", comma: "," },
  v: 6,
  x: "1024",
  y: "768",
  empty: "",
  empty_keys: {},
  undef: null,
};

// The examples of each section: a template and what it expands to.
const EXAMPLES: Readonly<Record<string, string>> = {
  "3.2.1 variables": `
    {count} one,two,three
    {count*} one,two,three
    {/count} /one,two,three
    {/count*} /one/two/three
    {;count} ;count=one,two,three
    {;count*} ;count=one;count=two;count=three
    {?count} ?count=one,two,three
    {?count*} ?count=one&count=two&count=three
    {&count*} &count=one&count=two&count=three`,
  "3.2.2 simple": `
    {var} value
    {hello} Hello%20World%21
    {half} 50%25
    O{empty}X OX
    O{undef}X OX
    {x,y} 1024,768
    {x,hello,y} 1024,Hello%20World%21,768
    ?{x,empty} ?1024,
    ?{x,undef} ?1024
    ?{undef,y} ?768
    {var:3} val
    {var:30} value
    {list} red,green,blue
    {list*} red,green,blue
    {keys} semi,%3B,dot,.,comma,%2C
    {keys*} semi=%3B,dot=.,comma=%2C`,
  "3.2.3 reserved": `
    {+var} value
    {+hello} Hello%20World!
    {+half} 50%25
    {base}index http%3A%2F%2Fexample.com%2Fhome%2Findex
    {+base}index http://example.com/home/index
    O{+empty}X OX
    O{+undef}X OX
    {+path}/here /foo/bar/here
    here?ref={+path} here?ref=/foo/bar
    up{+path}{var}/here up/foo/barvalue/here
    {+x,hello,y} 1024,Hello%20World!,768
    {+path,x}/here /foo/bar,1024/here
    {+path:6}/here /foo/b/here
    {+list} red,green,blue
    {+list*} red,green,blue
    {+keys} semi,;,dot,.,comma,,
    {+keys*} semi=;,dot=.,comma=,`,
  "3.2.4 fragment": `
    {#var} #value
    {#hello} #Hello%20World!
    {#half} #50%25
    foo{#empty} foo#
    foo{#undef} foo
    {#x,hello,y} #1024,Hello%20World!,768
    {#path,x}/here #/foo/bar,1024/here
    {#path:6}/here #/foo/b/here
    {#list} #red,green,blue
    {#list*} #red,green,blue
    {#keys} #semi,;,dot,.,comma,,
    {#keys*} #semi=;,dot=.,comma=,`,
  "3.2.5 label": `
    {.who} .fred
    {.who,who} .fred.fred
    {.half,who} .50%25.fred
    www{.dom*} www.example.com
    X{.var} X.value
    X{.empty} X.
    X{.undef} X
    X{.var:3} X.val
    X{.list} X.red,green,blue
    X{.list*} X.red.green.blue
    X{.keys} X.semi,%3B,dot,.,comma,%2C
    X{.keys*} X.semi=%3B.dot=..comma=%2C
    X{.empty_keys} X
    X{.empty_keys*} X`,
  "3.2.6 path segment": `
    {/who} /fred
    {/who,who} /fred/fred
    {/half,who} /50%25/fred
    {/who,dub} /fred/me%2Ftoo
    {/var} /value
    {/var,empty} /value/
    {/var,undef} /value
    {/var,x}/here /value/1024/here
    {/var:1,var} /v/value
    {/list} /red,green,blue
    {/list*} /red/green/blue
    {/list*,path:4} /red/green/blue/%2Ffoo
    {/keys} /semi,%3B,dot,.,comma,%2C
    {/keys*} /semi=%3B/dot=./comma=%2C`,
  "3.2.7 path parameter": `
    {;who} ;who=fred
    {;half} ;half=50%25
    {;empty} ;empty
    {;v,empty,who} ;v=6;empty;who=fred
    {;v,bar,who} ;v=6;who=fred
    {;x,y} ;x=1024;y=768
    {;x,y,empty} ;x=1024;y=768;empty
    {;x,y,undef} ;x=1024;y=768
    {;hello:5} ;hello=Hello
    {;list} ;list=red,green,blue
    {;list*} ;list=red;list=green;list=blue
    {;keys} ;keys=semi,%3B,dot,.,comma,%2C
    {;keys*} ;semi=%3B;dot=.;comma=%2C`,
  "3.2.8 query": `
    {?who} ?who=fred
    {?half} ?half=50%25
    {?x,y} ?x=1024&y=768
    {?x,y,empty} ?x=1024&y=768&empty=
    {?x,y,undef} ?x=1024&y=768
    {?var:3} ?var=val
    {?list} ?list=red,green,blue
    {?list*} ?list=red&list=green&list=blue
    {?keys} ?keys=semi,%3B,dot,.,comma,%2C
    {?keys*} ?semi=%3B&dot=.&comma=%2C`,
  "3.2.9 query continuation": `
    {&who} &who=fred
    {&half} &half=50%25
    ?fixed=yes{&x} ?fixed=yes&x=1024
    {&x,y,empty} &x=1024&y=768&empty=
    {&x,y,undef} &x=1024&y=768
    {&var:3} &var=val
    {&list} &list=red,green,blue
    {&list*} &list=red&list=green&list=blue
    {&keys} &keys=semi,%3B,dot,.,comma,%2C
    {&keys*} &semi=%3B&dot=.&comma=%2C`,
};

/** The variables that a match returns: lists are joined, prefixes are truncated. */
function expected(template: string): Record<string, string> {
  const names = variableNames(template);
  return Object.fromEntries(names.flatMap((name) => {
    const value = VARIABLES[name];
    if (value === undefined || value === null || JSON.stringify(value) === "{}") return [];
    if (typeof value !== "object") return [[name, `${value}`]];
    if (Array.isArray(value)) return [[name, value.join(",")]];
    const isExploded = template.includes(`${name}*`);
    return [[name, Object.entries(value).map((entry) => entry.join(isExploded ? "=" : ",")).join(",")]];
  }));
}

/** Templates whose expansion does not determine all variables. */
const LOSSY_EXAMPLES: Readonly<Record<string, Record<string, string> | undefined>> = {
  "O{empty}X": undefined,
  "O{undef}X": undefined,
  "O{+empty}X": undefined,
  "O{+undef}X": undefined,
  "?{undef,y}": { undef: "768" },
  "{var:3}": { var: "val" },
  "{+path:6}/here": { path: "/foo/b" },
  "up{+path}{var}/here": { path: "/foo/barvalu", var: "e" },
  "{#path:6}/here": { path: "/foo/b" },
  "X{.var:3}": { var: "val" },
  "X{.keys*}": { keys: "semi=;,dot=,,comma=," },
  "{/list*,path:4}": { list: "red,green,blue", path: "/foo" },
  "{;hello:5}": { hello: "Hello" },
  "{?var:3}": { var: "val" },
  "{&var:3}": { var: "val" },
};

for (const [section, lines] of Object.entries(EXAMPLES)) {
  const examples = lines.trim().split("\n").map((line) => line.trim().split(" ") as [string, string]);
  test(`RFC 6570 section ${section}: the variables of each expansion are read`, () => {
    for (const [template, uri] of examples) {
      const wanted = template in LOSSY_EXAMPLES ? LOSSY_EXAMPLES[template] : expected(template);
      assert.equal(compileUriTemplate(template)(uri), wanted, template);
    }
  });
}

test("text outside of expressions matches with and without percent-encoding", () => {
  assert.equal(compileUriTemplate("a://ü/%C3%BC/[1]?'!")("a://%C3%BC/%C3%BC/[1]?'!"), {});
  assert.equal(compileUriTemplate("")(""), {});
  assert.equal(compileUriTemplate("a://ü/{x}")("a://ü/é"), { x: "é" });
  assert.equal(compileUriTemplate("a://ü/{x}")("a://%C3%BC/%C3%A9"), { x: "é" });
  assert.equal(compileUriTemplate("a://[b]/{x}")("a://[b]/c d"), { x: "c d" });
});

test("names may have dots, digits, percent-encoding, and be names of Object.prototype", () => {
  assert.equal(
    compileUriTemplate("{?last.name,42,Stra%C3%9Fe}")("?last.name=Doe&42=all&Stra%C3%9Fe=Weg"),
    { "last.name": "Doe", "42": "all", "Stra%C3%9Fe": "Weg" },
  );
  assert.equal(compileUriTemplate("{/toString,__proto__,constructor}")(""), {});
  assert.equal(
    Object.entries(compileUriTemplate("{/__proto__}")("/x")!),
    [["__proto__", "x"]],
  );
});

test("a lone surrogate does not match", () => {
  assert.is(compileUriTemplate("{x}")("\ud800"), undefined);
});

/** Matches a URI. */
function read(template: string, uri: string): Record<string, string> | undefined {
  return compileUriTemplate(template)(uri);
}

test("a simple variable matches one segment that is not empty", () => {
  assert.equal(read("a://b/{x}", "a://b/c:@!&="), { x: "c:@!&=" });
  for (
    const uri of ["a://b/", "a://b/c/d", "a://b/c?d", "a://b/c#d", "a://b", "A://b/c", "xa://b/c", "a://b/c/"]
  ) {
    assert.is(read("a://b/{x}", uri), undefined, uri);
  }
  assert.equal(read("a://b/{x}", "a://b/c%2Fd%3F"), { x: "c/d?" });
  assert.equal(read("a://{x}.txt", "a://b.txt.txt"), { x: "b.txt" });
});

test("a reserved variable matches any text that is not empty", () => {
  assert.equal(read("f:///{+path}", "f:///a/b c/%64?e#f"), { path: "a/b c/d?e#f" });
  assert.is(read("f:///{+path}", "f:///"), undefined);
  assert.equal(read("s://{name}/{+path}", "s://a/b/c"), { name: "a", path: "b/c" });
});

test("variables of an absent expression are absent", () => {
  assert.equal(read("a:{/x,y}{?q}{#f}", "a:"), {});
  assert.equal(read("a:{/x,y}{?q}{#f}", "a:/1"), { x: "1" });
  assert.equal(read("a:{/x,y}{?q}{#f}", "a:/1?q=2"), { x: "1", q: "2" });
  assert.equal(read("a:{/x,y}{?q}{#f}", "a:/1/#"), { x: "1", y: "", f: "" });
  assert.is(read("a:{/x,y}{?q}{#f}", "a:/1/2/3"), undefined);
  assert.is(read("a:{/x,y}{?q}{#f}", "a:?"), undefined);
});

test("the match with most values is chosen, then the one with longer first values", () => {
  assert.equal(read("{a}-{b}", "1-2-3"), { a: "1-2", b: "3" });
  assert.equal(read("{/a}{/b}", "/1/2"), { a: "1", b: "2" });
  assert.equal(read("{/a*}{/b}", "/1/2/3"), { a: "1,2", b: "3" });
  assert.equal(read("{/a*}/c{/b}", "/1/c/2/c/3"), { a: "1,c,2", b: "3" });
  assert.equal(read("x{.a}{.b}", "x.tar.gz"), { a: "tar", b: "gz" });
  assert.equal(read("x{.a}", "x.tar.gz"), { a: "tar.gz" });
  assert.equal(read("{+a}{?q}", "/x?q=1"), { a: "/x", q: "1" });
  assert.equal(read("{a,b}", "1,2,3"), { a: "1,2", b: "3" });
  assert.equal(read("{a,b}", "1"), { a: "1" });
  assert.equal(read("{a}{b}", "%41%42"), { a: "A", b: "B" });
});

test("each query and path parameter matches once, in any order", () => {
  assert.equal(read("a:b{?x,y}", "a:b?y=2&x=1"), { x: "1", y: "2" });
  assert.equal(read("a:b{?x}{&y,z}", "a:b?z=3&x=1"), { x: "1", z: "3" });
  assert.equal(read("a:b{;x}{;y}", "a:b;y=2;x"), { x: "", y: "2" });
  assert.equal(read("a:b?k=v{&x,y}", "a:b?k=v&y=2"), { y: "2" });
  assert.equal(read("a:b{?x}&k=v", "a:b?x=1&k=v"), { x: "1" });
  assert.equal(read("a:b{?x}", "a:b?x=/a?b=c"), { x: "/a?b=c" });
  assert.equal(read("a:b{?x}", "a:b?x"), { x: "" });
  for (
    const uri of [
      "a:b?x=1&x=1",
      "a:b?x=1&utm=2",
      "a:b?X=1",
      "a:b?x=1&",
      "a:b?&x=1",
      "a:b&x=1",
      "a:b?x=1?y=2#z",
    ]
  ) {
    assert.is(read("a:b{?x,y}", uri), undefined, uri);
  }
});

test("an exploded variable has all parameters of its name and those with unknown names", () => {
  assert.equal(read("a:b{?x*,y}", "a:b?x=1&y=2&x=3%2C4"), { x: "1,3,4", y: "2" });
  assert.equal(read("a:b{?x,more*}", "a:b?p=1&x=2&q=%263"), { x: "2", more: "p=1,q=&3" });
});

test("a variable that occurs twice must have the same value", () => {
  assert.equal(read("{x}/{x}", "1/1"), { x: "1" });
  assert.is(read("{x}/{x}", "1/2"), undefined);
  assert.equal(read("{x:2}/{x:1}/{x}", "ab/a/abc"), { x: "abc" });
  assert.is(read("{x:2}/{x}", "ab/acd"), undefined);
  assert.is(read("{x:2}/{x:3}", "ab/acd"), undefined);
  assert.is(read("{x:2}", "abc"), undefined);
});

for (const uri of ["a:%", "a:%4", "a:%zz", "a:%ff", "a:%C3", "a:%C3%28", "a:%ED%A0%80", "a:x%"]) {
  test(`invalid percent-encoding does not match: ${uri}`, () => {
    for (const template of ["a:{x}", "a:{+x}", "a{+x}", "a:{x*}"]) {
      assert.is(read(template, uri), undefined, template);
    }
    assert.is(read("a:{?x}", uri.replace(":", ":?x=")), undefined);
    assert.is(read("a:{?x*}", uri.replace(":", ":?") + "=1"), undefined);
  });
}

test("percent-encoded values of all kinds are decoded", () => {
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (char) => "%" + char.charCodeAt(0).toString(16));
  const values = [
    "a",
    "/",
    "a/b?c#d",
    "%",
    "%41",
    "ü😀",
    "a b+c",
    ",;.=&",
    "'\"<>\\^`{|}",
    "\u0000\n",
    "..",
    "~!*()",
  ];
  for (
    const [template, uri] of [
      ["t://{x}", "t://VALUE"],
      ["t://h{/x}", "t://h/VALUE"],
      ["t://h{;x}", "t://h;x=VALUE"],
      ["t://h{?x}", "t://h?x=VALUE"],
      ["t://h?k=v{&x}", "t://h?k=v&x=VALUE"],
      ["t://h/{x}/{y}{?x,z}", "t://h/VALUE/2?x=VALUE&z=%2C"],
    ] as const
  ) {
    for (const x of values) {
      const variables = { x, ...(template.includes("y") && { y: "2", z: "," }) };
      assert.equal(read(template, uri.replaceAll("VALUE", () => encode(x))), variables, `${template} ${x}`);
    }
  }
});

test("URIs above the maximum length do not match", () => {
  assert.is(read("a:{x}", "a:" + "b".repeat(8190))?.x?.length, 8190);
  assert.is(read("a:{x}", "a:" + "b".repeat(8191)), undefined);
  assert.is(read("a:{x}", "a:" + "ü".repeat(4000)), undefined);
});

test("the time is linear in the length of the URI", () => {
  const hostile = [
    ["{a}-{b}-{c}-{d}-{e}-{f}-{g}-{h}!", "-".repeat(8000)],
    ["{+a}{+b}{+c}{+d}{+e}{+f}{+g}{+h}!", "a".repeat(8000)],
    ["{/a*}{/b*}{/c*}{/d*}{/e*}!", "/".repeat(8000)],
    ["{+a}aaaaaaaaab{+c}aaaaaaaaab", "a".repeat(8000)],
    ["a{?x*}", "a?" + "x=1&".repeat(2000)],
    ["a{?x*,y}!", "a?" + "%41=1&".repeat(1300)],
  ] as const;
  const started = Date.now();
  for (const [template, uri] of hostile) read(template, uri);
  assert.ok(Date.now() - started < 1000, `${Date.now() - started} ms`);
});

test.run();
