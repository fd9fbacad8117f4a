import { computed, date, defineCollection, error, integer, text } from 'rowgate'
import { officeChanges, officeReads } from './roles.ts'

const personal = { ...officeReads, includeByDefault: false } as const

export const employees = defineCollection(
  {
    key: 'employeeId',
    titleField: 'lastName',
    ...officeChanges,
    fields: {
      employeeId: integer({ generated: 'database', readOnly: true }),
      lastName: text({ required: true, maxLength: 20 }),
      firstName: text({ required: true, maxLength: 20 }),
      title: text({ maxLength: 30 }),
      birthDate: date(personal),
      hireDate: date(personal),
      city: text({ ...personal, maxLength: 15 }),
      country: text({ ...personal, maxLength: 15 }),
      reportsTo: integer({
        references: 'employees',
        description: 'The manager; nobody for the head of the house.',
      }),
      notes: text({ ...personal, multiline: true }),
    },
  },
  {
    computed: {
      fullName: computed(
        text(),
        ['firstName', 'lastName'],
        ({ firstName, lastName }) => `${firstName} ${lastName}`,
      ),
    },
    validations: [
      error('own-manager', {
        field: 'reportsTo',
        check: ({ employeeId, reportsTo }) =>
          reportsTo !== null && reportsTo === employeeId
            ? 'Nobody reports to themselves.'
            : undefined,
      }),
    ],
  },
)

export const shippers = defineCollection({
  key: 'shipperId',
  titleField: 'companyName',
  ...officeChanges,
  fields: {
    shipperId: integer({ generated: 'database', readOnly: true }),
    companyName: text({ required: true, maxLength: 40, unique: true }),
    phone: text({ maxLength: 24 }),
  },
})
