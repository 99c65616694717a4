/**
 * The German texts of mails and of the pages for forgotten passwords and e-mail addresses.
 *
 * @module
 */
import type { MailTexts } from "./texts_en.ts";

export const TEXTS: MailTexts = {
  forgotTitle: "Passwort zurücksetzen",
  forgotLead:
    "Geben Sie Ihren Benutzernamen oder Ihre E-Mail-Adresse ein. Sie erhalten einen Link, um ein neues " +
    "Passwort zu wählen.",
  forgotIdentifier: "Benutzername oder E-Mail-Adresse",
  forgotSend: "Link senden",
  forgotMissing: "Geben Sie einen Benutzernamen oder eine E-Mail-Adresse ein.",
  resetSentTitle: "Sehen Sie in Ihre E-Mails",
  resetSentText:
    "Falls es ein Konto mit diesem Namen oder dieser bestätigten Adresse gibt, wurde ein Link an seine " +
    "Adresse gesendet. Der Link gilt 30 Minuten und nur einmal.",
  resetTitle: "Neues Passwort wählen",
  resetSignsOut: "Sie werden überall abgemeldet.",
  resetEndGrants: "Auch den Zugriff aller Anwendungen auf mein Konto beenden",
  resetSubmit: "Passwort ändern",
  resetDoneTitle: "Passwort geändert",
  resetDoneText: "Sie sind überall abgemeldet. Melden Sie sich mit dem neuen Passwort an.",

  newPassword: "Neues Passwort (mindestens {count} Zeichen)",
  passwordTooShort: "Das Passwort muss mindestens {count} Zeichen haben.",
  passwordTooLong: "Das Passwort ist zu lang.",
  passwordBreached: "Dieses Passwort ist aus Datenlecks bekannt. Wählen Sie ein anderes.",
  passwordSameAsName: "Das Passwort darf nicht Ihr Benutzername oder Ihre E-Mail-Adresse sein.",
  passwordBusy: "Der Server ist ausgelastet. Versuchen Sie es in {duration} noch einmal.",

  verifyTitle: "E-Mail-Adresse bestätigen",
  verifyText: "Ist {email} die Adresse des Kontos {user}?",
  verifySubmit: "Adresse bestätigen",
  verifiedTitle: "Adresse bestätigt",
  verifiedText: "{email} ist jetzt die Adresse Ihres Kontos.",

  linkEndedTitle: "Dieser Link gilt nicht mehr",
  linkEndedText: "Er wurde schon verwendet, ist abgelaufen oder wurde durch einen neueren ersetzt.",
  linkInUseTitle: "Adresse vergeben",
  linkInUseText: "Ein anderes Konto hat diese Adresse bestätigt.",
  linkOther:
    "Sie haben inzwischen einen anderen Link geöffnet. Die Seite zeigt jetzt, wofür dieser gilt. Prüfen Sie sie, und senden Sie sie noch einmal ab.",
  linkAgain: "Neuen Link anfordern",

  mailResetSubject: "Passwort zurücksetzen bei {product}",
  mailResetText: `Jemand möchte das Passwort Ihres Kontos {user} bei {host} zurücksetzen.

Um ein neues Passwort zu wählen, öffnen Sie innerhalb von 30 Minuten diesen Link:

{link}

Falls Sie das nicht waren, können Sie diese E-Mail ignorieren: Ihr Passwort bleibt, wie es ist.
`,
  mailChangedSubject: "Ihr Passwort bei {product} wurde geändert",
  mailChangedText: `Das Passwort Ihres Kontos {user} bei {host} wurde geändert.

Falls Sie das nicht waren, wenden Sie sich sofort an den Betreiber von {issuer}.
`,
  mailVerifySubject: "E-Mail-Adresse bestätigen bei {product}",
  mailVerifyText:
    `Um zu bestätigen, dass {email} die Adresse Ihres Kontos bei {host} ist, öffnen Sie innerhalb von 24 Stunden diesen Link:

{link}

Falls Sie kein solches Konto haben, können Sie diese E-Mail ignorieren.
`,
  mailAddressSubject: "Ihre E-Mail-Adresse bei {product} wurde geändert",
  mailAddressText: `Die E-Mail-Adresse Ihres Kontos {user} bei {host} ist jetzt {email}.

Falls Sie das nicht waren, wenden Sie sich sofort an den Betreiber von {issuer}.
`,
  mailRemovedSubject: "Ihre E-Mail-Adresse bei {product} wurde entfernt",
  mailRemovedText: `Ihr Konto {user} bei {host} hat keine E-Mail-Adresse mehr.

Falls Sie das nicht waren, wenden Sie sich sofort an den Betreiber von {issuer}.
`,
  mailSignUpSubject: "Konto bestätigen bei {product}",
  mailSignUpText:
    `Jemand hat mit Ihrer E-Mail-Adresse ein Konto bei {host} angelegt. Um es zu bestätigen, öffnen Sie innerhalb einer Stunde diesen Link:

{link}

Falls Sie das nicht waren, können Sie diese E-Mail ignorieren: Das Konto wird nicht angelegt.
`,
  mailInUseSubject: "Sie haben schon ein Konto bei {product}",
  mailInUseText:
    `Jemand wollte mit Ihrer E-Mail-Adresse ein Konto bei {host} anlegen. Sie haben schon eines: {user}.

Falls Sie das waren, melden Sie sich unter {issuer} an, oder setzen Sie dort Ihr Passwort zurück. Andernfalls können Sie diese E-Mail ignorieren.
`,
};
