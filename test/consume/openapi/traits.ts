import { file, type EndpointOptions } from '../../../src/entries/consume.ts'

/** A small document with a trait of public ones, and a call of one of its endpoints. */
export interface TraitDocument {
  /** JSON if it is an object, YAML if it is a string. */
  readonly document: object | string
  /** The notes of the import, without their lines. */
  readonly notes: readonly string[]
  /** Absent if the document has no endpoint. */
  readonly call?: {
    readonly endpoint: string
    readonly input: object
    /** What the server receives: the method, the URL, the media type and the body. */
    readonly request: readonly [line: string, type: string | undefined, body: string | RegExp]
    readonly accept?: EndpointOptions['accept']
    readonly response: { readonly type?: string; readonly body: unknown }
    /** The body that the call returns. Default: the body of the response. */
    readonly body?: unknown
    /** A response that is not what the document describes, and the place of the error. */
    readonly renamed?: { readonly body: unknown; readonly place: string }
  }
}

const info = { title: 'Traits', version: '1' }
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const ok = (schema: object) => ({ 200: { description: 'OK.', ...json(schema) } })
const object = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  ...{ type: 'object', required, properties },
})
const string = { type: 'string' }
const integer = { type: 'integer' }
const form = 'application/x-www-form-urlencoded'

/** Documents by their trait. */
export const traitDocuments: Readonly<Record<string, TraitDocument>> = {
  formWithBrackets: {
    document: {
      ...{ openapi: '3.0.0', info },
      paths: {
        '/v1/charges': {
          post: {
            operationId: 'PostCharges',
            requestBody: {
              required: true,
              content: {
                [form]: {
                  encoding: {
                    expand: { explode: true, style: 'deepObject' },
                    metadata: { explode: true, style: 'deepObject' },
                    items: { explode: true, style: 'deepObject' },
                    tags: { explode: false },
                  },
                  schema: object(
                    {
                      amount: integer,
                      expand: { type: 'array', items: string },
                      metadata: { type: 'object', additionalProperties: string },
                      items: { type: 'array', items: object({ price: string }) },
                      tags: { type: 'array', items: string },
                      ids: { type: 'array', items: integer },
                    },
                    ['amount'],
                  ),
                },
              },
            },
            responses: ok(object({ id: string, amount: integer })),
          },
        },
      },
    },
    notes: [],
    call: {
      endpoint: 'postCharges',
      input: {
        body: {
          ...{ amount: 5, expand: ['a', 'b'], metadata: { 'order id': '7' } },
          ...{ items: [{ price: 'p1' }], tags: ['x', 'y'], ids: [1, 2] },
        },
      },
      request: [
        'POST /v1/charges',
        form,
        'amount=5&expand[0]=a&expand[1]=b&metadata[order id]=7&items[0][price]=p1&tags=x,y&ids=1&ids=2',
      ],
      response: { body: { id: 'ch_1', amount: 5 } },
      renamed: { body: { id: 'ch_1', total: 5 }, place: '/amount (required)' },
    },
  },
  referenceInExample: {
    document: {
      ...{ openapi: '3.0.3', info },
      paths: {
        '/schemas/{id}': {
          get: {
            operationId: 'getSchema',
            parameters: [{ name: 'id', in: 'path', required: true, schema: string }],
            responses: {
              200: {
                description: 'A schema.',
                content: {
                  'application/json': {
                    schema: { ...object({ $ref: string }), example: { $ref: '#/nothing' } },
                    examples: { one: { value: { $ref: 'other.json#/a' } } },
                  },
                },
              },
            },
          },
        },
      },
    },
    notes: [],
    call: {
      endpoint: 'getSchema',
      input: { id: 'a/b' },
      request: ['GET /schemas/a%2Fb', undefined, ''],
      response: { body: { $ref: '#/nothing' } },
      renamed: { body: { ref: '' }, place: '/$ref (required)' },
    },
  },
  circularDiscriminator: {
    document: {
      ...{ openapi: '3.0.3', info },
      paths: {
        '/shapes': {
          get: {
            operationId: 'listShapes',
            responses: ok({ type: 'array', items: ref('Shape') }),
          },
        },
      },
      components: {
        schemas: {
          Shape: {
            ...object({ kind: string, label: string }, ['kind']),
            oneOf: [ref('Group'), ref('Circle')],
            discriminator: { propertyName: 'kind', mapping: { round: ref('Circle').$ref } },
          },
          Group: {
            allOf: [
              ref('Shape'),
              object({ members: { type: 'array', items: ref('Shape') }, next: ref('Group') }, [
                'members',
              ]),
            ],
          },
          Circle: { allOf: [ref('Shape'), object({ radius: { type: 'number' } })] },
        },
      },
    },
    notes: [],
    call: {
      endpoint: 'listShapes',
      input: {},
      request: ['GET /shapes', undefined, ''],
      response: {
        body: [{ kind: 'Group', members: [{ kind: 'round', radius: 1.5, label: 'a' }] }],
      },
      renamed: {
        body: [{ kind: 'Group', members: [{ kind: 'round', r: 1 }] }],
        place: '/0/members/0/radius (required)',
      },
    },
  },
  undeclaredPathParameter: {
    document: {
      ...{ openapi: '3.0.1', info },
      paths: {
        '/users/{userId}/posts/{post-id}': {
          delete: {
            operationId: 'removePost',
            parameters: [{ name: 'gone', in: 'path', schema: string }],
            responses: { 204: { description: 'Removed.' } },
          },
        },
      },
    },
    notes: [
      '#/paths/~1users~1{userId}~1posts~1{post-id}/delete/parameters/0: is in the path, but not required: it is required',
      '#/paths/~1users~1{userId}~1posts~1{post-id}/delete: the parameter gone is not in its path',
      '#/paths/~1users~1{userId}~1posts~1{post-id}/delete: the parameter userId is not declared: it is a string',
      '#/paths/~1users~1{userId}~1posts~1{post-id}/delete: the parameter post-id is not declared: it is a string',
    ],
    call: {
      endpoint: 'removePost',
      input: { userId: 'u', 'post-id': '7' },
      request: ['DELETE /users/u/posts/7', undefined, ''],
      response: { body: undefined },
      body: null,
    },
  },
  unquotedVersion: {
    document: `
openapi: 3.0
info: { title: Traits, version: 1.0 }
paths:
  /ping:
    get:
      operationId: ping
      responses:
        200: { description: OK., content: { application/json: { schema: { type: boolean } } } }
`,
    notes: [
      "#/openapi: is not a complete version: it is read as '3.0.0'",
      "#/info/version: is not a string: it is read as '1'",
    ],
    call: {
      endpoint: 'ping',
      input: {},
      request: ['GET /ping', undefined, ''],
      response: { body: true },
      renamed: { body: 'yes', place: ' (type)' },
    },
  },
  mergePatch: {
    document: {
      ...{ openapi: '3.1.0', info },
      paths: {
        '/notes/{id}': {
          patch: {
            operationId: 'changeNote',
            parameters: [{ name: 'id', in: 'path', required: true, schema: integer }],
            requestBody: {
              content: {
                'application/merge-patch+json': {
                  schema: object({ title: { type: ['string', 'null'] } }, []),
                },
              },
            },
            responses: {
              200: {
                description: 'OK.',
                content: {
                  'application/hal+json': {
                    schema: object({ title: { type: ['string', 'null'] } }),
                  },
                },
              },
            },
          },
        },
      },
    },
    notes: [],
    call: {
      endpoint: 'changeNote',
      input: { id: 7, body: { title: null } },
      request: ['PATCH /notes/7', 'application/merge-patch+json', '{"title":null}'],
      accept: 'application/hal+json',
      response: { type: 'application/hal+json', body: { title: null } },
      renamed: { body: { name: 'a' }, place: '/title (required)' },
    },
  },
  webhooksOnly: {
    document: {
      ...{ openapi: '3.1.0', info },
      webhooks: { newOrder: { post: { requestBody: json(ref('Order')), responses: {} } } },
      components: { schemas: { Order: object({ id: string }) } },
    },
    notes: [],
  },
  multipartWithBinary: {
    document: {
      ...{ openapi: '3.0.3', info },
      paths: {
        '/files': {
          post: {
            operationId: 'upload',
            requestBody: {
              required: true,
              content: {
                'multipart/form-data': {
                  schema: ref('Upload'),
                  encoding: {
                    meta: { contentType: 'application/json' },
                    file: { contentType: 'image/png, image/jpeg' },
                  },
                },
              },
            },
            responses: { 201: { description: 'Stored.', ...json(object({ size: integer })) } },
          },
        },
      },
      components: {
        schemas: {
          Upload: object(
            {
              purpose: { type: 'string', enum: ['avatar', 'scan'] },
              file: { type: 'string', format: 'binary' },
              more: { type: 'array', items: { type: 'string', format: 'binary' } },
              meta: object({ tags: { type: 'array', items: string } }),
            },
            ['purpose', 'file'],
          ),
        },
      },
    },
    notes: [],
    call: {
      endpoint: 'upload',
      input: {
        body: {
          purpose: 'scan',
          file: file(Buffer.from('PNG'), { name: 'a.png', type: 'image/png' }),
          meta: { tags: ['x'] },
        },
      },
      request: [
        'POST /files',
        'multipart/form-data',
        /name="purpose"\r\n\r\nscan\r\n.*name="file"; filename="a.png"\r\nContent-Type: image\/png\r\n\r\nPNG\r\n.*name="meta"\r\nContent-Type: application\/json\r\n\r\n\{"tags":\["x"\]\}/s,
      ],
      response: { body: { size: 3 } },
      renamed: { body: { size: '3' }, place: '/size (type)' },
    },
  },
  lines: {
    document: {
      ...{ openapi: '3.1.0', info },
      paths: {
        '/events': {
          get: {
            operationId: 'readEvents',
            responses: {
              200: {
                description: 'Events.',
                content: {
                  'application/x-ndjson': { schema: object({ id: integer, name: string }) },
                },
              },
            },
          },
        },
      },
    },
    notes: [],
    call: {
      endpoint: 'readEvents',
      input: {},
      request: ['GET /events', undefined, ''],
      accept: 'application/x-ndjson',
      response: {
        type: 'application/x-ndjson',
        body: '{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n',
      },
      body: [
        { id: 1, name: 'a' },
        { id: 2, name: 'b' },
      ],
      renamed: { body: '{"id":1,"name":"a"}\n{"id":2,"title":"b"}', place: '/1/name (required)' },
    },
  },
  cursorInBody: {
    document: {
      ...{ openapi: '3.1.0', info },
      paths: {
        '/search': {
          post: {
            operationId: 'search',
            requestBody: json(object({ start_cursor: string, page_size: integer }, [])),
            responses: ok(
              object({
                results: { type: 'array', items: object({ id: string }) },
                next_cursor: { anyOf: [string, { type: 'null' }] },
              }),
            ),
          },
        },
      },
    },
    notes: [],
    call: {
      endpoint: 'search',
      input: { body: { page_size: 2 } },
      request: ['POST /search', 'application/json', '{"page_size":2}'],
      response: { body: { results: [{ id: 'a' }], next_cursor: null } },
      renamed: {
        body: { results: [{ key: 'a' }], next_cursor: null },
        place: '/results/0/id (required)',
      },
    },
  },
  vendorJson: {
    document: {
      ...{ openapi: '3.0.3', info },
      paths: {
        '/articles': {
          post: {
            operationId: 'createArticle',
            requestBody: {
              required: true,
              content: { 'application/vnd.api+json': { schema: ref('Article') } },
            },
            responses: {
              201: {
                description: 'Created.',
                content: { 'application/vnd.api+json': { schema: ref('Article') } },
              },
            },
          },
        },
      },
      components: {
        schemas: {
          Article: object({
            data: object({
              type: string,
              attributes: { type: 'object', additionalProperties: string },
            }),
          }),
        },
      },
    },
    notes: [],
    call: {
      endpoint: 'createArticle',
      input: { body: { data: { type: 'articles', attributes: { title: 'a' } } } },
      request: [
        'POST /articles',
        'application/vnd.api+json',
        '{"data":{"type":"articles","attributes":{"title":"a"}}}',
      ],
      accept: 'application/vnd.api+json',
      response: {
        type: 'application/vnd.api+json',
        body: { data: { type: 'articles', attributes: {} } },
      },
      renamed: {
        body: { data: { type: 'articles', attributes: { 'maria@example.com': 7 } } },
        place: '/data/attributes/* (type)',
      },
    },
  },
  partsAndNull: {
    document: {
      ...{ openapi: '3.0.3', info },
      paths: { '/orders/{id}': { get: { operationId: 'getOrder', responses: ok(ref('Order')) } } },
      components: {
        schemas: {
          Base: object({
            id: { type: 'integer', minimum: 0, exclusiveMinimum: true },
            secret: { ...string, writeOnly: true },
          }),
          Order: {
            allOf: [
              ref('Base'),
              object(
                {
                  state: { type: 'string', nullable: true, enum: ['open', 'done'] },
                  parent: { nullable: true, allOf: [ref('Order')] },
                  created: { type: 'string', format: 'date-time', pattern: '^(?i)[0-9]' },
                },
                ['state', 'created'],
              ),
            ],
          },
        },
      },
    },
    notes: ['#/paths/~1orders~1{id}/get: the parameter id is not declared: it is a string'],
    call: {
      endpoint: 'getOrder',
      input: { id: '7' },
      request: ['GET /orders/7', undefined, ''],
      response: {
        body: {
          id: 7,
          state: null,
          created: 'now',
          parent: { id: 1, state: 'open', created: '', parent: null },
        },
      },
      renamed: {
        body: { id: 7, state: null, created: 'now', parent: { id: 0, state: 'open', created: '' } },
        place: '/parent/id (exclusiveMinimum)',
      },
    },
  },
}
