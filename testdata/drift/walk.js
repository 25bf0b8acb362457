// Walks the types of requests and answers in the vendors' SDKs, and prints one line of JSON for
// each member and each of its values: a body with that member, and the same body without it.
//
//	node walk.js

import fs from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { GoogleGenAI } from '@google/genai'

// roots are the types to walk, in the words of TypeScript. base is the body around the members: a
// field about tools means nothing without a tool.
const roots = [
  {
    format: 'messages', side: 'request', type: "import('@anthropic-ai/sdk/resources/beta/messages/messages').MessageCreateParamsBase",
    base: { model: 'm', max_tokens: 4096, messages: [{ role: 'user', content: 'hi' }], tools: [{ name: 'f', input_schema: { type: 'object' } }] },
  },
  {
    format: 'chat', side: 'request', type: "import('openai/resources/chat/completions/completions').ChatCompletionCreateParamsNonStreaming",
    base: { model: 'm', messages: [{ role: 'user', content: 'hi' }], tools: [{ type: 'function', function: { name: 'f' } }] },
  },
  {
    format: 'completions', side: 'request', type: "import('openai/resources/completions').CompletionCreateParamsNonStreaming",
    base: { model: 'm', prompt: 'hi' },
  },
  {
    format: 'responses', side: 'request', type: "import('openai/resources/responses/responses').ResponseCreateParamsNonStreaming",
    base: { model: 'm', input: 'hi', store: false, tools: [{ type: 'function', name: 'f', parameters: null, strict: false }] },
  },
  {
    format: 'gemini', side: 'request',
    type: "{ contents: import('@google/genai').Content[]; config?: Omit<import('@google/genai').GenerateContentConfig, 'tools' | 'responseSchema' | 'systemInstruction'> & " +
      "{ tools?: import('@google/genai').Tool[]; responseSchema?: import('@google/genai').Schema; systemInstruction?: import('@google/genai').Content } }",
    base: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], config: { tools: [{ functionDeclarations: [{ name: 'f' }] }] } },
  },
  { format: 'messages', side: 'answer', type: "import('@anthropic-ai/sdk/resources/beta/messages/messages').BetaMessage" },
  { format: 'chat', side: 'answer', type: "import('openai/resources/chat/completions/completions').ChatCompletion" },
  { format: 'completions', side: 'answer', type: "import('openai/resources/completions').Completion" },
  { format: 'responses', side: 'answer', type: "import('openai/resources/responses/responses').Response" },
  {
    format: 'gemini', side: 'answer',
    type: "{ candidates: import('@google/genai').Candidate[]; usageMetadata?: import('@google/genai').GenerateContentResponseUsageMetadata; " +
      "promptFeedback?: import('@google/genai').GenerateContentResponsePromptFeedback; modelVersion?: string; responseId?: string; createTime?: string }",
  },
]

// named are the types with the names of models that an SDK knows, by the provider.
const named = {
  anthropic: ["import('@anthropic-ai/sdk/resources/messages/messages').Model"],
  openai: [
    "import('openai/resources/shared').AllModels", "import('openai/resources/embeddings').EmbeddingModel", "import('openai/resources/images').ImageModel",
    "import('openai/resources/audio/speech').SpeechModel", "import('openai/resources/audio/audio').AudioModel",
  ],
}

// skipped are members that are no part of a body, or whose values no gateway has to know.
const skipped = new Set(['model', 'betas', 'httpOptions', 'abortSignal', 'automaticFunctionCalling', 'shouldReturnHttpResponse', 'output_parsed', 'parsed', 'parsed_arguments', '_request_id'])

// texts are values of members that must look like something; all other texts are "x".
const texts = {
  data: 'aGk=', url: 'https://files.example/a.png', image_url: 'https://files.example/a.png', file_url: 'https://files.example/a.pdf',
  file_data: 'data:application/pdf;base64,aGk=', fileUri: 'https://files.example/a.png', arguments: '{}', media_type: 'image/png', mimeType: 'image/png',
  imageBytes: 'aGk=', thoughtSignature: 'aGk=', name: 'f', text: 'words', thinking: 'words', summary: 'words', content: 'words',
}

// objects are values of members that are schemas or free objects.
const objects = {
  input_schema: { type: 'object' }, parameters: { type: 'object' }, schema: { type: 'object', additionalProperties: false }, parametersJsonSchema: { type: 'object' },
  responseJsonSchema: { type: 'object' },
}

// usual are the values of members in an ordinary answer, of which each sample has one other.
const usual = { finish_reason: 'stop', stop_reason: 'end_turn', status: 'completed', finishReason: 'STOP' }

// invented is a word that no vendor has: a word that is read as it is not known.
const invented = 'invented_word'

const deepest = 9 // members within each other

const file = path.resolve('roots.ts')
const source = [
  ...roots.map((root, i) => `export declare const root${i}: ${root.type};`),
  ...Object.entries(named).map(([provider, types]) => `export declare const ${provider}: ${types.join(' | ')};`),
].join('\n')
const host = ts.createCompilerHost({})
const own = { readFile: host.readFile, fileExists: host.fileExists, getSourceFile: host.getSourceFile }
host.readFile = name => (name === file ? source : own.readFile(name))
host.fileExists = name => name === file || own.fileExists(name)
host.getSourceFile = (name, options) => (name === file ? ts.createSourceFile(name, source, options) : own.getSourceFile(name, options))
const program = ts.createProgram([file], { strict: true, module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, skipLibCheck: true, noEmit: true, types: [] }, host)
const checker = program.getTypeChecker()
const broken = ts.getPreEmitDiagnostics(program, program.getSourceFile(file))
if (broken.length > 0) {
  throw new Error(ts.flattenDiagnosticMessageText(broken[0].messageText, '\n'))
}

// variantsOf returns the types of a union, without undefined.
function variantsOf(type) {
  const types = type.isUnion() ? type.types : [type]
  return types.filter(t => !(t.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void | ts.TypeFlags.Never)))
}

const isList = type => checker.isArrayType(type) || checker.isTupleType(type)
const isFunction = type => Boolean(type.flags & ts.TypeFlags.Object) && !isList(type) && (type.getCallSignatures().length > 0 || type.getProperties().some(p => checker.getTypeOfSymbol(p).getCallSignatures().length > 0))
const isObject = type => Boolean(type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) && !isList(type) && !isFunction(type)
const isText = type => Boolean(type.flags & (ts.TypeFlags.StringLike | ts.TypeFlags.TemplateLiteral)) || type.isIntersection() && type.types.some(isText)

// membersOf returns the members of an object.
function membersOf(type) {
  return type.getProperties()
    .filter(p => !skipped.has(p.name))
    .map(p => ({ name: p.name, type: checker.getTypeOfSymbol(p), optional: Boolean(p.flags & ts.SymbolFlags.Optional) }))
}

// kindOf returns the word that tells the objects of a union apart, "" for none.
function kindOf(type) {
  for (const name of ['type', 'role']) {
    const property = type.getProperty(name)
    const kind = property && checker.getTypeOfSymbol(property)
    if (kind?.isStringLiteral()) {
      return kind.value
    }
  }
  return ''
}

// side is that of the root that is walked.
let side

// minimal returns the smallest value of a type: of a union that of the first type, but a text if
// there is one. In answers it is an ordinary value, or null.
function minimal(type, name, within = []) {
  const variants = variantsOf(type)
  const ordinary = side === 'answer' && ((name in usual ? variants.find(t => t.value === usual[name]) : undefined) ?? (name !== 'content' ? variants.find(t => t.flags & ts.TypeFlags.Null) : undefined))
  if (ordinary) {
    return ordinary.value ?? null
  }
  if (side === 'answer' && name === 'index') {
    return 0
  }
  const chosen = variants.find(t => t.flags & ts.TypeFlags.String) ?? variants.find(t => !(t.flags & ts.TypeFlags.Null)) ?? variants[0]
  return one(chosen, name, within)
}

// one returns the smallest value of a type that is no union.
function one(type, name, within = []) {
  if (objects[name] && !isText(type)) {
    return objects[name]
  }
  if (!type || type.flags & ts.TypeFlags.Null) {
    return null
  }
  if (type.isStringLiteral() || type.isNumberLiteral()) {
    return type.value
  }
  if (type.flags & ts.TypeFlags.BooleanLike) {
    return type.intrinsicName !== 'false'
  }
  if (isText(type)) {
    return texts[name] ?? 'x'
  }
  if (type.flags & ts.TypeFlags.NumberLike) {
    return 1
  }
  if (isList(type)) {
    const element = checker.getTypeArguments(type)[0]
    return within.includes(type) || !element ? [] : [minimal(element, name, [...within, type])]
  }
  const value = {}
  if (isObject(type) && !within.includes(type)) {
    for (const member of membersOf(type)) {
      if (!member.optional) {
        value[member.name] = minimal(member.type, member.name, [...within, type])
      }
    }
  }
  return value
}

// walk calls found for each member of an object and each of its values. put returns a body in which
// a value takes the place of the object.
function walk(type, at, put, within, found) {
  if (within.length > deepest || within.includes(type)) {
    return
  }
  const inside = [...within, type]
  const least = one(type, '')
  for (const member of membersOf(type)) {
    const where = at ? `${at}.${member.name}` : member.name
    const { [member.name]: smallest, ...others } = least
    const place = value => put({ ...others, [member.name]: value })
    const without = member.optional ? put(others) : put(least)
    const add = (word, value, other) => {
      if (JSON.stringify(value) !== JSON.stringify(smallest)) {
        found({ path: where + word, with: place(value), without, other: other && place(other) })
      }
    }
    values(member.type, member.name, where, place, add, inside, found)
  }
}

// values calls add for each value of a member, and walks the objects in it.
function values(type, name, where, place, add, within, found) {
  for (const variant of variantsOf(type)) {
    if (isList(variant)) {
      const element = checker.getTypeArguments(variant)[0]
      if (element) {
        values(element, name, `${where}.*`, value => place([value]), (word, value, other) => add(`.*${word}`, [value], other && [other]), within, found)
      }
    } else if (isObject(variant) && membersOf(variant).length > 0) {
      const kind = kindOf(variant)
      const word = kind && `[${kind}]`
      add(word, one(variant, name))
      walk(variant, where + word, place, within, found)
    } else if (!isFunction(variant)) {
      const value = one(variant, name)
      const isWord = variant.isStringLiteral() || variant.isNumberLiteral() || variant.flags & (ts.TypeFlags.BooleanLike | ts.TypeFlags.Null)
      add(isWord ? `=${value}` : '', value, variant.isStringLiteral() ? invented : undefined)
    }
  }
}

// complete adds to a conversation what a turn needs to be valid: a result its call, a call its
// result, and a turn of the assistant the turns around it.
const complete = {
  messages(body) {
    const last = body.messages.at(-1)
    const blocks = Array.isArray(last.content) ? last.content : []
    if (blocks.some(b => b.type === 'tool_result')) {
      body.messages.unshift({ role: 'user', content: 'hi' }, { role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'f', input: {} }] })
    } else if (last.role !== 'user') {
      body.messages.unshift({ role: 'user', content: 'hi' })
      body.messages.push({ role: 'user', content: blocks.some(b => b.type === 'tool_use') ? [{ type: 'tool_result', tool_use_id: 'x', content: 'words' }] : 'go on' })
    }
  },
  chat(body) {
    const last = body.messages.at(-1)
    const call = { id: 'x', type: 'function', function: { name: 'f', arguments: '{}' } }
    if (last.role === 'tool') {
      body.messages.unshift({ role: 'user', content: 'hi' }, { role: 'assistant', tool_calls: [call] })
    } else if (last.role === 'assistant') {
      body.messages.unshift({ role: 'user', content: 'hi' })
      body.messages.push(last.tool_calls ? { role: 'tool', tool_call_id: 'x', content: 'words' } : { role: 'user', content: 'go on' })
    } else if (last.role !== 'user') {
      body.messages.push({ role: 'user', content: 'hi' })
    }
  },
  responses(body) {
    const item = Array.isArray(body.input) && body.input.at(-1)
    if (!item) {
      return
    }
    const custom = item.type?.startsWith('custom')
    if (item.type?.endsWith('call_output') && item.call_id) {
      body.input.unshift(custom ? { type: 'custom_tool_call', call_id: item.call_id, name: 'f', input: 'x' } : { type: 'function_call', call_id: item.call_id, name: 'f', arguments: '{}' })
    } else if (item.type === 'function_call' || item.type === 'custom_tool_call') {
      body.input.push({ type: `${item.type}_output`, call_id: item.call_id, output: 'words' })
    }
    body.input.unshift({ type: 'message', role: 'user', content: 'hi' })
  },
  gemini(body) {
    if (body.config?.responseSchema || body.config?.responseJsonSchema) {
      body.config.responseMimeType ??= 'application/json'
    }
    const last = body.contents.at(-1)
    if (last.parts?.some(p => p.functionResponse)) {
      body.contents.unshift({ role: 'user', parts: [{ text: 'hi' }] }, { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] })
    } else if (last.role === 'model' || last.parts?.some(p => p.functionCall)) {
      last.role = 'model'
      body.contents.unshift({ role: 'user', parts: [{ text: 'hi' }] })
      body.contents.push({ role: 'user', parts: [last.parts?.some(p => p.functionCall) ? { functionResponse: { name: 'f', response: {} } } : { text: 'go on' }] })
    } else {
      last.role ??= 'user'
    }
  },
}

// whole adds to an answer what it needs to be whole.
const whole = {
  gemini(body) {
    for (const candidate of body.candidates) {
      candidate.content ??= { role: 'model', parts: [{ text: 'words' }] }
      candidate.finishReason ??= 'STOP'
    }
  },
  responses(body) {
    body.status ??= 'completed'
  },
}

// onTheWire returns the body that the SDK sends, since the types of Google's SDK are not those of
// the wire; null for a request that the SDK refuses.
async function onTheWire(body) {
  let sent = null
  globalThis.fetch = async (_, init) => {
    sent = JSON.parse(init.body)
    return new Response('{"candidates":[]}', { headers: { 'content-type': 'application/json' } })
  }
  try {
    await client.models.generateContent({ model: 'm', ...structuredClone(body) })
  } catch {
    return sent
  }
  return sent
}
const client = new GoogleGenAI({ apiKey: 'k' })

const declared = name => checker.getTypeOfSymbol(checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file))).find(s => s.name === name))

const out = []
for (const provider of Object.keys(named)) {
  for (const type of variantsOf(declared(provider)).filter(t => t.isStringLiteral())) {
    out.push(JSON.stringify({ side: 'model', format: provider, path: type.value }))
  }
}
for (const [i, root] of roots.entries()) {
  side = root.side
  const samples = []
  const merged = value => structuredClone(root.base ? { ...root.base, ...value, config: root.base.config && { ...root.base.config, ...value.config } } : value)
  const type = declared(`root${i}`)
  const given = Object.keys(root.base ?? {})
  const least = one(type, '')
  for (const name of given) {
    delete least[name]
  }
  const put = value => {
    const body = { ...value }
    for (const name of given) { // the smallest value of a member that the base has is no sample
      if (JSON.stringify(body[name]) === JSON.stringify(one(type, '')[name])) {
        delete body[name]
      }
    }
    return merged(body)
  }
  walk(type, '', put, [], sample => samples.push(sample))
  for (const sample of samples) {
    if (side === 'request') {
      delete sample.other
    }
    for (const which of ['with', 'without', 'other'].filter(which => sample[which])) {
      const finish = side === 'request' ? complete : whole
      finish[root.format]?.(sample[which])
      if (root.format === 'gemini' && root.side === 'request') {
        sample[which] = await onTheWire(sample[which])
      }
    }
    if (sample.with && sample.without && JSON.stringify(sample.with) !== JSON.stringify(sample.without)) {
      out.push(JSON.stringify({ format: root.format, side: root.side, ...sample }))
    }
  }
}
fs.writeSync(1, out.join('\n') + '\n')
