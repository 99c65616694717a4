/**
 * Words that people and programs use for the same thing, so that "delete" finds `remove_file`.
 *
 * @module
 */
import { toStem } from "./words.ts";

/** One group a line. A word may be in several. */
const GROUPS = `
create new make add write insert start
add append insert attach put
get read fetch show retrieve view load display open see
say content text read
know knowledge memory remember forget
list all show enumerate overview
delete remove erase drop forget discard
update edit change modify set replace patch alter
search find query look lookup seek where locate
rename move
copy duplicate clone fork
run execute evaluate start launch invoke
stop end close shut cancel abort
send post submit publish
close shut quit
click press tap push
wait until pause
upload attach send
download fetch save export
save store write keep remember
folder directory path subfolder
file document disk
picture image photo screenshot
video film record screencast recording
repository repo project
pull pr
merge integrate combine
issue ticket bug problem
comment remark answer reply note discuss
user person people member account who colleague
message mail text
email mail
site website page web url
tab page window
popup alert dialog confirm prompt
slow speed fast performance time
phone mobile device emulate
error failure fault exception problem
table database row record
task todo ticket
link relation connection
setting configuration option preference
environment env variable
zip compress gzip archive
sum total add plus
recent last latest history
size big large space bytes
structure tree hierarchy recursive nested
permission allow access may
status property field value
date day calendar time due deadline
authenticate login sign auth
test check status verify
chart graph plot diagram
weather forecast temperature
translate language
payment pay charge invoice bill
customer client contact
order purchase buy
build compile deploy release
log trace console
repeat echo
ci check status pass
commit change history
code function class source program script
`;

const related = new Map<string, Set<string>>();
for (const line of GROUPS.trim().split("\n")) {
  const stems = line.split(" ").map(toStem);
  for (const stem of stems) {
    const others = related.get(stem) ?? new Set<string>();
    for (const other of stems) if (other !== stem) others.add(other);
    related.set(stem, others);
  }
}

/** The stems of related words. */
export function relatedTo(stem: string): Iterable<string> {
  return related.get(stem) ?? [];
}
