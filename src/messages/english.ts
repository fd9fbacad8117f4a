const ofTypes = {
  text: '{field} must be a string without U+0000 and lone surrogates.',
  paddedText: '{field} must be a string without U+0000, spaces at its end and lone surrogates.',
  integer: '{field} must be an integer within ±(2^53 − 1).',
  bigint: '{field} must be a 64-bit integer, written as a string of digits.',
  decimal:
    '{field} must be a decimal number in a string, with at most {before} digits before and {after} after the point.',
  double: '{field} must be a finite number.',
  boolean: '{field} must be true or false.',
  date: '{field} must be a valid date (YYYY-MM-DD).',
  time: '{field} must be a time of day from 00:00:00 to 23:59:59, in the form hh:mm:ss.',
  dateTime: '{field} must be a valid date and time in the form {form}, without a time zone.',
  instant: '{field} must be a valid date and time in UTC in the form {form}.',
  uuid: '{field} must be a UUID.',
  json: '{field} must be a JSON value of at most {levels} levels, with numbers that are finite as a double, and strings without U+0000 and lone surrogates.',
} as const satisfies Readonly<Record<string, `{field} must be ${string}.`>>

/**
 * The English messages that users of clients read, each with its placeholders. Their names are the names in `messages` of a
 * service. Errors about a malformed request are not among them: only developers of clients read those.
 */
export const english = {
  ...ofTypes,

  required: '{field} is required.',
  readOnly: '{field} is read-only.',
  pattern: '{field} does not have the required form.',
  enumeration: '{field} must be one of {values}.',
  minLength: '{field} must have at least {minimum} characters.',
  maxLength: '{field} must have at most {maximum} characters.',
  minimum: '{field} must be at least {minimum}.',
  maximum: '{field} must be at most {maximum}.',
  unknownField: 'Unknown field: {name}.',

  keyChanged: '{field} is the key of the item and cannot be changed.',
  keyEmpty: '{field} must not be empty.',
  keyWithComma: '{field} must not contain a comma.',
  keyOfDots: '{field} must not be a dot segment.',
  keyTooLong: '{field} makes the key of the item longer than {maximum} bytes, percent-encoded.',

  repeated: 'Another item of {collection} has this {fields}.',
  repeatedValue: 'Another item of {collection} has this unique value.',
  unreferenced: '{fields} must be the key of an item of {collection}.',
  valueRejected: '{fields} is not accepted by the database.',
  valuesRejected: '{fields} are not accepted by the database.',
  someValueRejected: 'A value is not accepted by the database.',
  hiddenValue: 'A value that you cannot see does not allow this.',
  unfitValue: '{field} has a stored value that does not fit the field. It is shown as null.',

  notSaved: 'The changes could not be saved.',
  notDeleted: 'The item could not be deleted.',
  notAccepted: 'The request was rejected.',
  confirmSave: 'The changes need confirmation.',
  confirmDelete: 'The deletion needs confirmation.',
  confirmRequest: 'The request needs confirmation.',

  notFound: 'Not found.',
  forbidden: 'You do not have the right to do this.',
  methodNotAllowed: 'The method is not supported here.',
  unauthenticated: 'Valid credentials are required.',
  multipleCredentials: 'The request carries more than one credential.',
  httpsRequired: 'HTTPS is required.',
  tooManyRequests: 'There were too many requests. Try again later.',
  bodyTooLarge: 'The request body is larger than {maximum} bytes.',
  itemInUse: 'Other items still refer to this one.',
  itemInUseBy: 'Other items still refer to this one: {collections}.',
  itemChanged: 'The item has changed since it was read. Read it again.',
  requestInProgress: 'The first request with this Idempotency-Key is still in progress.',
  responseNotKept:
    'A request with this Idempotency-Key was sent before, and its response is not available. Read what it has changed.',
  idempotencyKeyReused: 'Another request had this Idempotency-Key.',
  tooManyLevels: 'More than {maximum} levels of items refer to this one.',
  internal: 'The request could not be served because of an internal error.',
  unavailable: 'The service is not available at the moment. Try again later.',
} as const

/** The name of a text that a service can translate, such as `required`. */
export type MessageName = keyof typeof english

/** The name of a message about the type of a field. */
export type TypeMessageName = keyof typeof ofTypes
