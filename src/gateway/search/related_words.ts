/**
 * Words that people and programs use for the same thing, so that "delete" finds `remove_file`.
 *
 * @module
 */
import { toStem } from "./words.ts";

/** One group a line. A word may be in several. */
const GROUPS = `
create new make add write insert start generate establish begin setup compose draft
add append insert attach put include
get read fetch show retrieve view load display open see check tell
say content text read
know knowledge memory remember forget learn fact observe
list all show enumerate overview
delete remove erase drop forget discard clear wipe purge trash destroy eliminate
update edit change modify set replace patch alter adjust correct fix revise rewrite
search find query look lookup seek where locate discover
move transfer relocate
rename move
copy duplicate clone fork
run execute evaluate start launch invoke perform
stop end close shut cancel abort finish terminate
send post submit publish share deliver
close shut quit
click press tap push hit
press key keyboard shortcut
type enter input fill write
hover mouse pointer
drag drop mouse
wait until pause
upload attach send submit
download fetch save export
save store write keep remember record note
folder directory path subfolder location
file document disk spreadsheet
computer machine disk drive filesystem local
picture image photo screenshot capture screen
audio sound music song recording media
video film record screencast recording movie
repository repo project codebase library package
pull pr contribution
merge integrate combine accept
issue ticket bug problem defect report crash
comment remark answer reply note discuss respond
review feedback approve opinion
branch version
user person people member account who colleague developer author
message mail text
email mail
site website page web url
browser chrome web
tab page window
popup alert dialog confirm prompt
slow speed fast performance time quick
phone mobile device emulate simulate
network request response call api traffic connection
error failure fault exception problem
table database row record column
row record entry item
block paragraph section
entity person thing
observe fact note
task todo ticket
link relation connection relationship
setting configuration option preference
select choose pick option
option dropdown choice
style css font color appearance design
window resize width height dimension
snapshot structure state content
audit accessible quality
environment env variable
zip compress gzip archive shrink
sum total add plus
recent last latest history
size big large space bytes
structure tree hierarchy recursive nested
permission allow access may permit
status property field value state
date day calendar time due deadline event appointment meeting
schedule plan calendar book
authenticate login sign auth
test check status verify
chart graph plot diagram
weather forecast temperature
translate language
payment pay charge invoice bill
price cost amount
customer client contact lead
order purchase buy
channel room chat
team group organization workspace company
build compile deploy release
install package dependency
log trace console
metric monitor statistic analytics
repeat echo
ci check status pass build
commit change history
code function class source program script
template example pattern
token key secret credential
map place location address route
`;

let related: Map<string, Set<string>> | undefined;

function relateGroups(): Map<string, Set<string>> {
  const related = new Map<string, Set<string>>();
  for (const line of GROUPS.trim().split("\n")) {
    const stems = line.split(" ").map(toStem);
    for (const stem of stems) {
      const others = related.get(stem) ?? new Set<string>();
      for (const other of stems) if (other !== stem) others.add(other);
      related.set(stem, others);
    }
  }
  return related;
}

/** The stems of related words. */
export function relatedTo(stem: string): Iterable<string> {
  return (related ??= relateGroups()).get(stem) ?? [];
}
