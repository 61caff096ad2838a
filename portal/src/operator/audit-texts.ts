/**
 * The audit's checks in Ukrainian. The platform tells them in English, to the command line as well; a check is known by its English
 * name, and one that is not known here is shown as the platform tells it.
 */
import type { Language } from '../i18n/language.ts'
import type { Audit } from './queries.ts'

type Check = Audit['checks'][number]

/** Name, and what is said when the check holds. */
const inUkrainian: Record<string, [string, string]> = {
  'every profile is either free, reserved, sold or withdrawn': [
    'кожен профіль вільний, зарезервований, проданий або вилучений',
    '',
  ],
  'no profile is on two live orders': [
    'жоден профіль не належить двом чинним замовленням',
    'кожен зарезервований, проданий чи вилучений профіль названо в одному чинному замовленні',
  ],
  'every order names a bank, a tariff and a profile that exist': [
    'кожне замовлення називає банк, тариф і профіль, які існують',
    'і профіль належить до цього тарифу',
  ],
  'no state is outside the tables': [
    'немає станів поза таблицями',
    'замовлення зарезервовані, підтверджені, скасовані, прострочені або вилучені оператором платформи',
  ],
  'every order has what its status asks for': [
    'кожне замовлення має все, чого вимагає його стан',
    'банк, зовнішній номер, час і спосіб видачі відповідають стану',
  ],
  'no externalId of a bank has two orders': [
    'жоден зовнішній номер банку не має двох замовлень',
    'на повторений запит завжди можна відповісти його єдиним замовленням',
  ],
  'no free profile is lost for sale': [
    'жоден вільний профіль не втрачено для продажу',
    'кожен або ще попереду того місця, до якого тариф уже роздано, або записаний як повернутий',
  ],
  'every profile that was given back is one of its tariff': [
    'кожен повернутий профіль належить до свого тарифу',
    'повернутим не записано нічого, чого немає на складі',
  ],
  'no state of a campaign is outside the tables': [
    'немає станів кампаній поза таблицями',
    'кампанії, їхні банки та звітність у станах, які відомі правилам',
  ],
  'every launched campaign has an approved bank and no pending one': [
    'кожна запущена кампанія має банк, що погодився, і жодного, що ще вирішує',
    'ніхто не пропонує того, на що не погодився жоден банк',
  ],
  'every bank’s part fits its campaign': [
    'участь кожного банку відповідає його кампанії',
    'звітність починається з кінцем періоду, для банків, що погодилися, і її узгоджено до будь-якої оплати',
  ],
  'history holds only moves of the tables': [
    'в історії є лише переходи з таблиць',
    'кожен запис є одним із переходів, які відомі правилам',
  ],
  'history has no gaps': ['історія не має прогалин', 'кожен запис починається там, де закінчився попередній'],
  'history leads to the present states': [
    'історія веде до теперішніх станів',
    'останній запис кожної кампанії, банку та звітності збігається з їхнім станом',
  ],
  'reports are counted as they are kept': [
    'звітів стільки, скільки збережено',
    'кожен банк має стільки звітів кожної сторони, скільки записано, з номерами від 1',
  ],
  'what readers get of a campaign agrees with its columns': [
    'показане про кампанію збігається з її даними',
    'картка й термінали такі, як записано',
  ],
  'every segment has as many customers as it says': [
    'у кожному сегменті стільки клієнтів, скільки записано',
    'кількості та списки збігаються, і кожен клієнт належить банку, який існує',
  ],
}

const countedBooks = /^(\d+) profiles of (\d+) tariffs are (\d+) free, (\d+) reserved, (\d+) sold and (\d+) withdrawn$/

/**
 * A check in the person's language. What breaks one stays in the platform's words: it names orders, profiles and states as the
 * command line and the API do.
 */
export function checkText({ name, ok, detail }: Check, language: Language): Pick<Check, 'name' | 'detail'> {
  const [ownName, holds] = (language === 'uk' && inUkrainian[name]) || []
  if (!ownName) return { name, detail }
  const [, ...counts] = countedBooks.exec(detail) ?? []
  const [profiles, tariffs, free, reserved, sold, withdrawn] = counts
  if (profiles)
    return {
      name: ownName,
      detail: `профілів: ${profiles}, тарифів: ${tariffs}; вільних ${free}, зарезервованих ${reserved}, проданих ${sold}, вилучених ${withdrawn}`,
    }
  return { name: ownName, detail: (ok && holds) || detail }
}
