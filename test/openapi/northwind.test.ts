import { Validator } from '@seriousme/openapi-schema-validator'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { root } from '../../.ci/entries.ts'
import { createNorthwind, createReleases } from '../../examples/northwind/service.ts'
import { openApiDocument, toYaml } from '../../src/entries/openapi.ts'
import { documentOptions, hasDocumentOptions } from '../../src/openapi/options.ts'
import { pageHost } from '../../src/pages/page.ts'

const service = createNorthwind(':memory:', createReleases(0))
afterAll(() => service.close())

test('the copy of the document of the sample is current (vitest -u accepts a change)', async () => {
  const [page] = Object.values(service[pageHost].pages).filter(hasDocumentOptions)
  // What clients do: administration is for the console.
  const roles = ['Office', 'Sales', 'Deployment']
  const options = { ...(page?.[documentOptions] ?? { title: '' }), roles }
  const text = toYaml(openApiDocument(service, options))
  expect(await new Validator().validate(text)).toMatchObject({ valid: true })
  await expect(text).toMatchFileSnapshot(join(root, 'examples/northwind/openapi.yaml'))
})
