/**
 * The German texts of the basic pages.
 *
 * @module
 */
import type { BasicTexts } from "./texts_en.ts";

export const TEXTS: BasicTexts = {
  signIn: "Anmelden",
  signInTitle: "Anmelden",
  signInFor: "und weiter zu {application}",
  signInAt: "bei {host}",
  signInAgainText: "Bestätigen Sie, dass Sie es sind, um fortzufahren.",
  username: "Benutzername",
  password: "Passwort",
  continueWith: "Weiter mit {provider}",
  or: "oder",
  signUpQuestion: "Noch kein Konto?",
  signUp: "Konto erstellen",
  passwordReset: "Passwort vergessen?",
  signInWithPasskey: "Mit einem Passkey anmelden",
  passkeyNotUsed: "Es wurde kein Passkey verwendet. Versuchen Sie es erneut.",
  passkeyRefused:
    "Der Passkey konnte nicht geprüft werden. Versuchen Sie es erneut oder melden Sie sich anders an.",
  wrongCredentials: "Benutzername oder Passwort ist falsch.",
  tooManyAttempts: "Zu viele Versuche. Versuchen Sie es in {duration} erneut.",
  noSignIn: "Die Anmeldung ist nicht eingerichtet. Wenden Sie sich an den Betreiber dieses Servers.",

  signInFailedTitle: "Nicht angemeldet",
  signInExpired:
    "Diese Anmeldung ist abgelaufen, wurde bereits abgeschlossen oder in einem anderen Browser begonnen.",
  signInCancelled: "Die Anmeldung mit {provider} wurde abgebrochen.",
  signInNotInvited: "Um sich hier mit {provider} anzumelden, brauchen Sie eine Einladung. " +
    "Wenden Sie sich an den Betreiber dieses Servers.",
  signInNotAdmitted: "Mit Ihrem Konto bei {provider} können Sie sich hier nicht anmelden. " +
    "Wenden Sie sich an den Betreiber dieses Servers.",
  signInUnreachable: "{provider} antwortet nicht wie erwartet. Versuchen Sie es später erneut.",
  signInUnverified: "Die Antwort von {provider} konnte nicht geprüft werden. Melden Sie sich erneut an.",
  backToSignIn: "Zurück zur Anmeldung",

  signedInTitle: "Sie sind angemeldet",
  signedInAs: "Sie sind als {user} angemeldet.",
  yourAccount: "Ihr Konto",
  signOutTitle: "Abmelden?",
  signOut: "Abmelden",
  signOutAsked: "{application} möchte Sie abmelden.",
  signedOutTitle: "Sie sind abgemeldet",
  signedOutText: "Sie können diese Seite schließen.",
  signInAgain: "Erneut anmelden",

  quoted: "„{name}“",
  consentTitle: "Zugriff erlauben?",
  consentHeading: "{application} bittet um Zugriff",
  consentList: "Wenn Sie den Zugriff erlauben, kann diese Anwendung:",
  allowedBefore: "Bereits erlaubt:",
  resources: "Der Zugriff gilt für: {resources}.",
  signedInAccount: "Angemeldet als",
  notYou: "Nicht Sie?",
  destinationHost: "Sie werden zu {host} weitergeleitet.",
  destinationDeviceHost: "Sie werden zu {application} unter {host} weitergeleitet.",
  destinationScheme: "Sie werden zu {application} weitergeleitet, die {scheme}-Links öffnet.",
  applicationOnDevice: "einer Anwendung auf diesem Gerät",
  describedAt: "Diese Anwendung ist auf {host} beschrieben.",
  unverifiedName: "Dieser Name wurde nicht geprüft. Erlauben Sie den Zugriff nur, wenn Sie diese Anfrage " +
    "selbst in einer Anwendung gestartet haben, der Sie vertrauen.",
  accessEndsUnused: "Der Zugriff endet, wenn er {duration} lang nicht genutzt wird.",
  accessEnds: "Der Zugriff gilt {duration} lang.",
  allow: "Erlauben",
  deny: "Ablehnen",

  deviceTitle: "Gerät verbinden",
  deviceEnterCode: "Geben Sie den Code ein, den Ihr Gerät anzeigt.",
  deviceCode: "Code",
  continue: "Weiter",
  deviceUnknownCode: "Unbekannter oder abgelaufener Code. Vergleichen Sie ihn mit dem Code auf Ihrem Gerät.",
  deviceInsufficientRole: "Ihre Rolle erlaubt den Zugriff nicht, um den dieses Gerät bittet. " +
    "Wenden Sie sich an den Administrator dieses Servers.",
  deviceConsentTitle: "Gerät verbinden?",
  deviceConsentHeading: "{application} bittet um Zugriff auf einem Gerät",
  deviceCompareCode: "Prüfen Sie, ob Ihr Gerät diesen Code anzeigt:",
  deviceConsentList: "Wenn Sie den Zugriff erlauben, kann das Gerät:",
  deviceWarning:
    "Erlauben Sie den Zugriff nur, wenn das Gerät Ihnen gehört und Sie diese Anfrage gestartet haben. " +
    "Wenn Ihnen jemand diesen Code geschickt hat, lehnen Sie ab.",
  deviceConnectedTitle: "Gerät verbunden",
  deviceConnectedText: "Sie können diese Seite schließen und auf Ihrem Gerät fortfahren.",
  deviceDeniedTitle: "Zugriff abgelehnt",
  deviceDeniedText: "Das Gerät hat keinen Zugriff erhalten. Sie können diese Seite schließen.",

  formPostTitle: "Zurück zur Anwendung",
  formPostText: "Sie kehren zu {host} zurück.",

  invalidRequestTitle: "Ungültige Autorisierungsanfrage",
  invalidRequestText: "Dieser Server kann die Anfrage der Anwendung nicht annehmen.",
  returnToApplication:
    "Kehren Sie zur Anwendung zurück und beginnen Sie von vorn. Wenn der Fehler bestehen bleibt, " +
    "wenden Sie sich an den Entwickler der Anwendung.",
  requestEndedTitle: "Diese Anfrage ist beendet",
  requestEndedText: "Sie wurde bereits beantwortet, ist abgelaufen oder gehört zu einer anderen Sitzung.",
  crossSiteTitle: "Anfrage abgelehnt",
  crossSiteText:
    "Eine andere Website hat dieses Formular gesendet. Öffnen Sie die Seite auf dieser Website und " +
    "versuchen Sie es dort erneut.",
  invalidRedirectTitle: "Ungültiger Link",
  invalidRedirectText: "Der Link nennt eine Seite, die nicht zu diesem Server gehört.",
  noPasswordTitle: "Mit einem Anbieter anmelden",
  noPasswordText:
    "Hier melden Sie sich bei einem Identitätsanbieter an. Wählen Sie ihn auf der Anmeldeseite.",
  missingFieldsTitle: "Unvollständiges Formular",
  missingFieldsText:
    "Ein Feld des Formulars fehlt oder wurde mehrfach gesendet. Gehen Sie zurück und füllen Sie " +
    "alle Felder aus.",
  badBodyTitle: "Ungültiges Formular",
  badBodyText: "Das Formular konnte nicht gelesen werden. Gehen Sie zurück und versuchen Sie es erneut.",
  notFoundTitle: "Seite nicht gefunden",
  notFoundText: "Unter dieser Adresse gibt es keine Seite.",
  methodTitle: "Methode nicht erlaubt",
  methodText: "Diese Adresse nimmt diese Art von Anfrage nicht an.",
  unavailableTitle: "Vorübergehend nicht verfügbar",
  unavailableText: "Versuchen Sie es später erneut.",
  serverErrorTitle: "Serverfehler",
  serverErrorText: "Der Server konnte die Anfrage nicht beantworten. Versuchen Sie es später erneut.",
  details: "Einzelheiten für Entwickler",
  startPage: "Startseite",

  homeTitle: "Berechtigungen, Wissen und Werkzeuge für KI-Agenten",
  homeText: "Das ist {issuer}.",
  homeOAuth: "Berechtigungen",
  homeAuthorize: "hier erlauben Benutzer den Zugriff",
  homeToken: "Zugriffstokens für Clients",
  homeUser: "Name und E-Mail-Adresse des Benutzers",
  homeMetadata: "Metadaten des Autorisierungsservers (RFC 8414)",
  homeKeys: "Schlüssel, mit denen seine Tokens geprüft werden",
  homeSkills: "Wissen",
  homeSkillsText:
    "Skills: auflisten, erstellen, anzeigen, löschen; mit einem API-Schlüssel ({header}) oder " +
    "einem Zugriffstoken",
  homeMcp: "Werkzeuge",
  homeMcpText: "MCP-Server; über Standardein- und -ausgabe: {command}",
};

/**
 * Descriptions of Trivet's own scopes and names of its own resources, by their English text. Texts of the operator are
 * shown as they are.
 */
export const TRANSLATIONS: Readonly<Record<string, string>> = {
  "See your name and e-mail address": "Ihren Namen und Ihre E-Mail-Adresse sehen",
  "Read your data": "Ihre Daten lesen",
  "Change your data": "Ihre Daten ändern",
  "See and load skills": "Skills sehen und laden",
  "Add and remove skills": "Skills hinzufügen und entfernen",
  "Ask the model behind this server": "Das Modell hinter diesem Server befragen",
  "Register applications": "Anwendungen registrieren",
  "Administer this server": "Diesen Server verwalten",
  "Sign you in, and recognize you the next time": "Sie anmelden und beim nächsten Mal wiedererkennen",
  "See your e-mail address": "Ihre E-Mail-Adresse sehen",
  "Keep this access while you are away": "Diesen Zugriff behalten, während Sie nicht da sind",
  "the tools of this server": "die Werkzeuge dieses Servers",
  "the skills of this server": "die Skills dieses Servers",
  "this server": "diesen Server",
  "your name and e-mail address": "Ihren Namen und Ihre E-Mail-Adresse",
};
