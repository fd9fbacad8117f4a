import { defineCollection, text, warning, withBehaviour } from 'rowgate'

const detail = { includeByDefault: false } as const

const declared = defineCollection({
  key: 'customerId',
  titleField: 'companyName',
  fields: {
    customerId: text({
      maxLength: 5,
      pattern: '^[A-Z]{5}$',
      description: 'Five capital letters.',
      example: 'ALFKI',
    }),
    companyName: text({ required: true, maxLength: 40, example: 'Alfheim Kjøkkenimport AS' }),
    contactName: text({ maxLength: 30, example: 'Sunniva Nygårdsæther' }),
    contactTitle: text({ maxLength: 30, example: 'Purchasing Manager' }),
    address: text({ ...detail, maxLength: 60 }),
    city: text({ ...detail, maxLength: 15, example: 'Bergen' }),
    region: text({ ...detail, maxLength: 15 }),
    postalCode: text({ ...detail, maxLength: 10 }),
    phone: text({ ...detail, maxLength: 24 }),
    country: text({ ...detail, maxLength: 15, example: 'Norway' }),
  },
  index: [['country', 'companyName']],
})

export const customers = withBehaviour(declared, {
  // A salesperson is responsible for one country.
  rows: { equal: { country: { attribute: 'country' } }, exceptRoles: ['Office'] },
  validations: [
    warning('same-company-name', {
      field: 'companyName',
      check: async ({ companyName, customerId }, { find, stored }) => {
        if (companyName === stored?.companyName) return undefined
        const namesakes = await find(declared, { companyName })
        const other = namesakes.find((namesake) => namesake.customerId !== customerId)
        return other && `${other.customerId} has this company name already.`
      },
    }),
  ],
})
