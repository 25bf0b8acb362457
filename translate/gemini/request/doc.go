// Package request reads and writes requests of the gemini format: of generateContent,
// streamGenerateContent and countTokens.
//
// Inspect is strict about the fields and values that the format defines, and accepts any
// other member. Names may be in camel case or in snake case, but each in one of them only.
//
// The writer promises what strict services ask for: contents that begin with the user and
// whose roles alternate, the results of one turn together and in front of everything else,
// each with the name of the function, names and schemas that the model accepts, and a
// signature on each first call of the current turn for the models that require one.
package request
