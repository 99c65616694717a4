/**
 * The German texts of the pages about factors.
 *
 * @module
 */
import type { FactorTexts } from "./texts_en.ts";

export const TEXTS: FactorTexts = {
  factorStepTitle: "Bestätigen Sie, dass Sie es sind",
  factorStepLead: "Zweiter Schritt für {user}.",
  factorCodeTotp: "Code aus Ihrer Authenticator-App",
  factorCodeRecovery: "Wiederherstellungscode",
  factorRecoveryHint: "Kein Zugriff auf die App? Geben Sie stattdessen einen Wiederherstellungscode ein.",
  factorContinue: "Weiter",
  factorUsePasskey: "Passkey verwenden",
  factorOr: "oder",
  factorOtherUser: "Als anderer Benutzer anmelden",
  factorWrongCode: "Dieser Code ist falsch, abgelaufen oder wurde schon verwendet.",
  factorTooManyAttempts: "Zu viele Versuche. Versuchen Sie es in {duration} erneut.",
  factorPasskeyFailed: "Der Passkey konnte nicht geprüft werden. Versuchen Sie es erneut.",
  factorNoPasskey: "Es wurde kein Passkey verwendet. Versuchen Sie es erneut.",

  factorsTitle: "Sichere Anmeldung",
  factorsLead: "Mit einem zweiten Schritt genügt ein gestohlenes Passwort nicht zur Anmeldung.",
  factorsPasskeys: "Passkeys",
  factorsNoPasskeys:
    "Melden Sie sich mit Fingerabdruck, Gesicht oder der PIN Ihres Geräts statt mit einem Passwort an.",
  factorsAddPasskey: "Passkey hinzufügen",
  factorsTotp: "Authenticator-App",
  factorsNoTotp: "Geben Sie nach dem Passwort einen Code ein, den eine App auf Ihrem Telefon anzeigt.",
  factorsAddTotp: "App einrichten",
  factorsReplaceTotp: "App ersetzen",
  factorsTotpOn: "Eingerichtet",
  factorsCodes: "Wiederherstellungscodes",
  factorsCodesLeft: "Noch {count}. Jeder ersetzt den zweiten Schritt einmal.",
  factorsNewCodes: "Neue Codes",
  factorsAdded: "Hinzugefügt am {date}",
  factorsUsed: "zuletzt verwendet am {date}",
  factorsNeverUsed: "noch nicht verwendet",
  factorsSynced: "synchronisiert",
  factorsName: "Name",
  factorsRename: "Umbenennen",
  factorsRemove: "Entfernen",
  factorsRemoveNamed: "{name} entfernen",
  factorsLastWay:
    "Dieser Passkey ist Ihr einziger Weg, sich anzumelden. Fügen Sie zuerst einen anderen Passkey hinzu, oder verknüpfen Sie ein Konto bei einem Anbieter.",
  factorsBack: "Zurück zu Ihrem Konto",

  totpTitle: "Authenticator-App einrichten",
  totpScan: "Scannen Sie diesen Code mit Ihrer Authenticator-App.",
  totpQr: "QR-Code für Ihre Authenticator-App",
  totpSecret: "Oder geben Sie diesen Schlüssel in der App ein:",
  totpCode: "Code, den die App anzeigt",
  totpConfirm: "Bestätigen",
  totpExpired:
    "Das hat zu lange gedauert. Scannen Sie den neuen Code und entfernen Sie den alten Eintrag aus der App.",
  factorCancel: "Abbrechen",

  passkeyTitle: "Passkey hinzufügen",
  passkeyLead: "Ihr Gerät fragt nach Fingerabdruck, Gesicht oder PIN. Nichts davon verlässt das Gerät.",
  passkeyName: "Name, zum Beispiel des Geräts",
  passkeyCreate: "Passkey erstellen",
  passkeyNeedsScript:
    "Ihr Browser kann hier keinen Passkey erstellen. Dazu braucht er JavaScript und Unterstützung für Passkeys.",
  passkeyTooMany:
    "Sie haben schon die größtmögliche Zahl von Passkeys oder diesen Passkey. Entfernen Sie zuerst einen.",

  codesTitle: "Ihre Wiederherstellungscodes",
  codesLead:
    "Bewahren Sie diese Codes sicher auf. Jeder ersetzt den zweiten Schritt einmal, etwa wenn Sie Ihr " +
    "Telefon verlieren. Sie werden nicht noch einmal angezeigt.",
  codesKept: "Ich habe sie aufbewahrt",
};
