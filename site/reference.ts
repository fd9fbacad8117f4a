import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Application } from 'typedoc'
import { entries, root } from '../.ci/entries.ts'
import { publicNames } from '../test/project/surface.ts'

/** The types that exported names refer to and that have no name in the package, by the reason. */
const notExported = {
  'they compute types: an exported type is their result, such as `Key` of `KeyOf`': [
    ...[
      'ApplicationsOf',
      'CollectionsOf',
      'ComputedFields',
      'ComputedValues',
      'RelationsIn',
      'DefaultName',
      'ComputedDefault',
      'RelationsOf',
      'ReadEach',
      'ListOf',
      'CustomOf',
      'InputOf',
      'ResultOf',
      'KeyName',
      'KeyOf',
    ],
    ...['Shown', 'Some', 'Unnamed', 'ItemOf', 'DraftOf', 'NewItemOf', 'ManyResult'],
    ...['EntryOfMany', 'Member', 'Loose', 'LooseConditions', 'CheckedMessages', 'english'],
    ...['ConditionsOf', 'EqualConditions', 'FieldNameOf', 'RequiredName'],
    ...['ColumnFor', 'ColumnRecord', 'ColumnsIn', 'ParentIn', 'AncestorColumn', 'CallerSource'],
    ...['CheckedSources'],
    ...[
      'ElementAt',
      'FirstOf',
      'IsMixed',
      'Levels',
      'MemberCells',
      'Members',
      'Nearest',
      'OwnCell',
    ],
    ...['Pairs', 'InputOfParameters', 'ScalarOf', 'Simplified', 'SourceOf', 'DeliveryInput'],
    ...['DeliveryRow', 'ComputedValue', 'Handler', 'SaveHandlers', 'PreparedOf'],
    ...['NamedCondition', 'StoredForm', 'Exactly', 'FittingDefault'],
    ...[
      'AskedOf',
      'OperatorOf',
      'OperatorsIn',
      'RelatedOf',
      'OnlyFields',
      'operatorNames',
      'formStyles',
      'Places',
    ],
  ],
  'they constrain type parameters, which the compiler infers': [
    ...['KeyNames', 'NoEvents', 'NoFields', 'None', 'NoOthers', 'RequiresSecurity', 'ShapeOf'],
    ...['UserDefinedEvents', 'OutboxEndpoints', 'Level', 'OperatorsOn'],
  ],
  'only the library reads these members': [
    ...['PageHost', 'PageSource', 'WithPageHost', 'ServicePart', 'WithServicePart', 'Source'],
    ...['PublishedComputed', 'PublishedHandlers', 'Rule', 'SortKey', 'TypeMessage'],
    ...['PublishedExpansion', 'PublishedOperator', 'RelatedOperator', 'RelatedOperatorName'],
    ...['AdministeredPart', 'AdministeredDeployment'],
  ],
}

// Writes the reference, one page for each entry of the package, and fails if an exported name is missing.
const folder = join(root, 'docs/reference')

const app = await Application.bootstrapWithPlugins({
  entryPoints: entries.map(({ source }) => join(root, source)),
  tsconfig: join(root, 'tsconfig.json'),
  plugin: ['typedoc-plugin-markdown'],
  outputs: [{ name: 'markdown', path: folder }],
  // The check compiles the sources.
  skipErrorChecking: true,
  excludeExternals: true,
  disableSources: true,
  readme: 'none',
  sort: ['alphabetical'],
  // Every type that an exported name shows is exported as well, or stated with its reason.
  validation: { notExported: true, invalidLink: true },
  intentionallyNotExported: Object.values(notExported).flat(),
  logLevel: 'Warn',
  // Of the plugin.
  ...{
    router: 'module',
    entryFileName: 'index.md',
    hideBreadcrumbs: true,
    hidePageHeader: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
    sanitizeComments: true,
  },
})
const project = await app.convert()
if (project === undefined) throw new Error('TypeDoc cannot read the sources.')
const modules = project.children ?? []
for (const module of modules) {
  module.name = entries.find(({ name }) => name === module.name)?.specifier ?? module.name
}
app.validate(project)
await rm(folder, { recursive: true, force: true })
await app.generateOutputs(project)

const described = new Set(
  modules.flatMap(({ name: entry, children = [] }) =>
    children.map(({ name }) => `${entry} ${name}`),
  ),
)
const missing = publicNames()
  .map(({ entry, name }) => `${entry} ${name}`)
  .filter((name) => !described.has(name))
if (missing.length > 0) console.error(`Without an entry in the reference:\n${missing.join('\n')}`)
if (missing.length > 0 || app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1
else console.log(`${described.size} names on ${modules.length} pages`)
