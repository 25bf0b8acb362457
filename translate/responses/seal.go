package responses

// sealOfBlock begins the encrypted_content of reasoning that holds a thinking
// block of another format.
const sealOfBlock = "gwth1:"
