// ai_rules.cpp - keys of model and machine-learning providers.
#include "rules.hpp"

namespace bmad_mem {
namespace {

// clang-format off: a row a rule.
constexpr SecretRule kRules[] = {
    {.id = "openai-api-key", .what = "OpenAI API key", .keywords = "T3BlbkFJ", .pattern = "sk-(?:proj-|svcacct-|admin-|None-)?[0-9A-Za-z_-]{20,160}T3BlbkFJ[0-9A-Za-z_-]{20,160}", .lead = 180, .entropy_min = 3, .finds = "sk-3jh6c2scgdNK4lNtDTZ2T3BlbkF·JGC00VFJyFZysGFUCGSTe", .spares = "T3BlbkFJyour-token-here"},
    {.id = "openai-project-key", .what = "OpenAI project, service account or admin key", .keywords = "sk-proj- sk-svcacct- sk-admin-", .pattern = "sk-(?:proj|svcacct|admin)-[0-9A-Za-z_-]{40,200}", .entropy_min = 3, .finds = "sk-proj·-fQXkOiQecgq9nVwZ9p1X6W5CR_Kf7Z5Y8hbwtRL3\nsk-svcacct·-M_aiAkLdOmXkAB6I1tIOtbu2FLtTgWcTjfoKnsFm\nsk-admin·-WIM3S1eH86bO-LQvPqWApxqDcPEfshqlDJuBH9nd", .spares = "sk-proj-your-token-here"},
    {.id = "anthropic-api-key", .what = "Anthropic API key", .keywords = "sk-ant-api", .pattern = "sk-ant-api[0-9]{2}-[0-9A-Za-z_-]{80,120}", .entropy_min = 3, .finds = "sk-ant-ap·i54-GjcEWMPnuFlmHGmGgbkdvbC3ye72VsPUZHOz-tpf9CSCyJTNZRDCrihsLg8p6MWeSkX5g2tiEjOh9fwL", .spares = "sk-ant-apiyour-token-here"},
    {.id = "anthropic-admin-key", .what = "Anthropic admin key", .keywords = "sk-ant-admin", .pattern = "sk-ant-admin[0-9]{2}-[0-9A-Za-z_-]{80,120}", .entropy_min = 3, .finds = "sk-ant-admi·n18-nORa8tbUif5xP0XKIRJpnJsufwQkJl82IJ2SnEP9RRy2njtNXpRNjbhcwQUF7w6gMxv0HgnzGJFvWZ9m", .spares = "sk-ant-adminyour-token-here"},
    {.id = "anthropic-oauth-token", .what = "Anthropic OAuth token", .keywords = "sk-ant-oat sk-ant-ort sk-ant-sid", .pattern = "sk-ant-(?:oat|ort|sid)[0-9]{2}-[0-9A-Za-z_-]{40,120}", .entropy_min = 3, .finds = "sk-ant-oa·t18-_rKauWuTMDpdjm4aFwmF62VBVis0p8y6pinP5xmZ\nsk-ant-or·t65-IRyQLn-hFDCuqrR3GagtmZIWuYz-KcPPgFg17gGY\nsk-ant-si·d03-4ykoBHAPyH6X-5GOlXdrA8MPZdPOHoJvO41Vh9_1", .spares = "sk-ant-oatyour-token-here"},
    {.id = "huggingface-token", .what = "Hugging Face access token", .keywords = "hf_", .pattern = "hf_[A-Za-z0-9]{34,37}", .entropy_min = 3.5, .finds = "hf·_X8TQMJ5Yl93sSWjdHUqjAu8BfNgeqCDwjw", .spares = "hf_hub_download_with_a_very_long_name_of_"},
    {.id = "huggingface-org-token", .what = "Hugging Face organization token", .keywords = "api_org_", .pattern = "api_org_[A-Za-z]{34}", .entropy_min = 3.5, .finds = "api_org·_fGyKYXUShPTdsMUUtaXLTZGbxlNakIKhSw", .spares = "api_org_your-token-here"},
    {.id = "groq-api-key", .what = "Groq API key", .keywords = "gsk_", .pattern = "gsk_[0-9A-Za-z]{40,60}", .entropy_min = 3, .finds = "gsk·_crHQLvepZWcksqV5qxhbj9c3SQyqw47AWM9H45eD", .spares = "gsk_your-token-here"},
    {.id = "perplexity-api-key", .what = "Perplexity API key", .keywords = "pplx-", .pattern = "pplx-[0-9A-Za-z]{48}", .entropy_min = 3, .finds = "pplx·-18kdxFCkXfMWN4ZjodzXFC1r7K7sQLVbnvwFOU3nRC6c7vZr", .spares = "pplx-your-token-here"},
    {.id = "replicate-token", .what = "Replicate API token", .keywords = "r8_", .pattern = "r8_[0-9A-Za-z]{37}", .entropy_min = 3, .finds = "r8·_mLAnU4bNkRi4JtReYvkisaN5UBCAVA65SVKAg", .spares = "r8_your-token-here"},
    {.id = "xai-api-key", .what = "xAI API key", .keywords = "xai-", .pattern = "xai-[0-9A-Za-z]{70,90}", .entropy_min = 3, .finds = "xai·-jebvu9mIBjGkJixaC4Xam7kBJ98KQC6612bmtFutpe15TgK1lSZRRMHRDuhWCXQSwwABfK", .spares = "xai-your-token-here"},
    {.id = "openrouter-api-key", .what = "OpenRouter API key", .keywords = "sk-or-v1-", .pattern = "sk-or-v1-[0-9a-f]{64}", .entropy_min = 3, .finds = "sk-or-v1·-d9b0b81a7c982437232112ebdde1fd8cea3632932de172205e7f045f89b38f0a", .spares = "sk-or-v1-your-token-here"},
    {.id = "langsmith-api-key", .what = "LangSmith API key", .keywords = "lsv2_", .pattern = "lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", .entropy_min = 3, .finds = "lsv2·_sk_3099b1b0d38bb4211eb53d225175cb68_2ba4aeddee", .spares = "lsv2_your-token-here"},
    {.id = "langfuse-secret-key", .what = "Langfuse secret key", .keywords = "sk-lf-", .pattern = "sk-lf-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", .entropy_min = 2.5, .finds = "sk-lf·-f1f211a3-f461-69e4-b829-72fea7b7f7ab", .spares = "sk-lf-your-token-here"},
    {.id = "pinecone-api-key", .what = "Pinecone API key", .keywords = "pcsk_", .pattern = "pcsk_[0-9A-Za-z]{5,6}_[0-9A-Za-z]{60,66}", .entropy_min = 3, .finds = "pcsk·_7GUPO_eL4M3ZUwgr6JC6immjSq2sr3U0l5wmnrFUFrECpE1iyR5BmY4OaQJgF9GL3V", .spares = "pcsk_your-token-here"},
    {.id = "fireworks-api-key", .what = "Fireworks AI API key", .keywords = "fw_", .pattern = "fw_[0-9A-Za-z]{22,24}", .entropy_min = 3.6, .finds = "fw·_HjvqwzX7gG8sRZZBj4RJXi", .spares = "fw_version_string_of_device"},
    {.id = "nvidia-api-key", .what = "NVIDIA NIM API key", .keywords = "nvapi-", .pattern = "nvapi-[0-9A-Za-z_-]{60,70}", .entropy_min = 3, .finds = "nvapi·-XEpJkzx_gA_1_-beRGzCZiJXjftoJWe38jYY54STQOthLpykYOEAMCbsqmrh", .spares = "nvapi-your-token-here"},
    {.id = "cerebras-api-key", .what = "Cerebras API key", .keywords = "csk-", .pattern = "csk-[0-9a-z]{48}", .entropy_min = 3, .finds = "csk·-6i5s67pl8l844assmsj5wpjky76uaqg7fdooo9ciqg4flnpx", .spares = "csk-your-token-here"},
    {.id = "databricks-token", .what = "Databricks access token", .keywords = "dapi", .pattern = "dapi[0-9a-f]{32}(?:-[0-9])?", .entropy_min = 2.8, .finds = "dap·i0f15e08a51fed2d8039061f8d0c41ed7-5", .spares = "dapiyour-token-here"},
    {.id = "deepseek-api-key", .what = "API key of the \"sk-\" and 32 digits kind, such as DeepSeek", .keywords = "sk-", .pattern = "sk-[0-9a-f]{32}", .entropy_min = 2.8, .finds = "sk·-3f63704fadef88b20a6e4e91d352f3a8", .spares = "sk-lazy-loading-image"},
    {.id = "openai-legacy-key", .what = "API key of the \"sk-\" and 48 characters kind, such as OpenAI had", .keywords = "sk-", .pattern = "sk-[0-9A-Za-z]{48,51}", .entropy_min = 3.5, .finds = "sk·-68m5yTp11OhRMYO1h3TlKn9cm3GijqUd626uVOu0CyQaU649", .spares = "sk-button-primary-large"},
    {.id = "voyage-api-key", .what = "Voyage AI API key", .keywords = "pa-", .pattern = "pa-[0-9A-Za-z_-]{43}", .entropy_min = 3.8, .finds = "pa·-6CHR8C7m3C1sD2nL3Um1ypA3iPL0EGNWF9E4Hj-MJPY", .spares = "pa-0-1-spacing"},
    {.id = "jina-api-key", .what = "Jina AI API key", .keywords = "jina_", .pattern = "jina_[0-9a-f]{32}[0-9A-Za-z_-]{28,32}", .entropy_min = 3, .finds = "jina·_c5ef2575a17797b7c1f7f5fd3095f3adZvjttsskjrw-FWC6blEQQP3HrxPP", .spares = "jina_your-token-here"},
    {.id = "tavily-api-key", .what = "Tavily API key", .keywords = "tvly-", .pattern = "tvly-(?:dev-|prod-)?[0-9A-Za-z]{28,40}", .entropy_min = 3, .finds = "tvly·-qQFmIL4QE8d69UxmPDve5UyoRLJo", .spares = "tvly-your-token-here"},
    {.id = "elevenlabs-api-key", .what = "ElevenLabs API key", .keywords = "sk_", .pattern = "sk_[0-9a-f]{48}", .entropy_min = 2.8, .finds = "sk·_4336a3c0b368e0644246ca6a511cea2fc31eb230b89c60ae", .spares = "sk_buff_alloc_with_frags"},
    {.id = "stability-api-key", .what = "Stability AI API key", .keywords = "sk-", .pattern = "sk-[0-9A-Za-z]{50,52}", .entropy_min = 3.5, .finds = "sk·-QXSdh2inCPIo27AWBNsHJ0RSb0q4SjYUTUQS21UyEs33vARboQ", .spares = "sk-sidebar"},
    {.id = "firecrawl-api-key", .what = "Firecrawl API key", .keywords = "fc-", .pattern = "fc-[0-9a-f]{32}", .entropy_min = 2.8, .finds = "fc·-f245a15d0bd2ec80af203b9b9e5600b5", .spares = "fc-event-container"},
    {.id = "composio-api-key", .what = "Composio API key", .keywords = "ak_", .pattern = "ak_[0-9A-Za-z_-]{20}", .entropy_min = 3.6, .finds = "ak·_6t_8Rkf32gW6CJ-fl1Uo", .spares = "ak_stage_environment"},
    {.id = "wandb-v1-key", .what = "Weights & Biases API key, new form", .keywords = "wandb_v1_", .pattern = "wandb_v1_[0-9A-Za-z_-]{70,90}", .entropy_min = 3, .finds = "wandb_v1·_Et4wDJLYwFs0amgaEtzIKOKadJA0xfHEd1o6Lyvr9ijhwA-9ZwKAMf2i5szNxcOh1a4J6o", .spares = "wandb_v1_your-token-here"},
    {.id = "e2b-api-key", .what = "E2B API key", .keywords = "e2b_", .pattern = "e2b_[0-9a-f]{40}", .entropy_min = 2.8, .finds = "e2b·_de8404cc4aa4f1c9104fd8aa534626c77c7738e6", .spares = "e2b_your-token-here"},
    {.id = "modal-token", .what = "Modal token id or secret", .keywords = "ak- as-", .pattern = "a[ks]-[0-9A-Za-z]{22}", .entropy_min = 3.6, .finds = "ak·-mT6EA68xIhYAgFQFI0lOd3\nas·-0xcVMXSZvuXIFkmAJm5ok9", .spares = "as-a-service-for-everybody"},
    {.id = "mem0-api-key", .what = "Mem0 API key", .keywords = "m0-", .pattern = "m0-[0-9A-Za-z]{40}", .entropy_min = 3.5, .finds = "m0·-GoPZtU5AvJ6nxbVQsoayX1tP19Q1RxubbWkKQwGy", .spares = "m0-100"},
    {.id = "cohere-api-key", .what = "Cohere API key", .kind = RuleKind::kAssigned, .keywords = "cohere coapikey", .pattern = "[0-9A-Za-z]{40}", .entropy_min = 3.5, .finds = "COHERE_KEY=o2K·f8OraC2y7bVKYHY3EfloY6b5xSCcmIKLxaOaz", .spares = "cohere_model=command-r-plus"},
    {.id = "mistral-api-key", .what = "Mistral AI API key", .kind = RuleKind::kAssigned, .keywords = "mistral", .pattern = "[0-9A-Za-z]{32}", .entropy_min = 3.5, .finds = "MISTRAL_KEY=J78·uoTHsK0cBDghrTG4opPon7uqgFwlp", .spares = "mistral_model=mistral-large-latest"},
    {.id = "together-api-key", .what = "Together AI API key", .kind = RuleKind::kAssigned, .keywords = "together", .pattern = "[0-9a-f]{64}|tgp_v1_[0-9A-Za-z_-]{43}", .entropy_min = 3, .finds = "TOGETHER_KEY=2f1·e23da6674a19b21a8b376ab5372a3f479b6f0d3a1ff55cd7b89baa7fbad89", .spares = "together_url=https://api.together.xyz"},
    {.id = "wandb-api-key", .what = "Weights & Biases API key", .kind = RuleKind::kAssigned, .keywords = "wandb", .pattern = "[0-9a-f]{40}", .entropy_min = 3, .finds = "WANDB_KEY=1a5·fbfbb1bf49b0d9eb87852a77df9928e0681d5", .spares = "wandb_project=my-project"},
    {.id = "assemblyai-api-key", .what = "AssemblyAI API key", .kind = RuleKind::kAssigned, .keywords = "assemblyai", .pattern = "[0-9a-f]{32}", .entropy_min = 3, .finds = "ASSEMBLYAI_KEY=0b3·2e850dbb6d120ac6d1a7ef725608a", .spares = "assemblyai_url=https://x"},
    {.id = "deepgram-api-key", .what = "Deepgram API key", .kind = RuleKind::kAssigned, .keywords = "deepgram", .pattern = "[0-9a-f]{40}", .entropy_min = 3, .finds = "DEEPGRAM_KEY=3c6·2cbcb6132ddcf779daf20d1f9720e429dddd4", .spares = "deepgram_model=nova-2"},
    {.id = "azure-openai-key", .what = "Azure OpenAI key", .kind = RuleKind::kAssigned, .keywords = "azureopenai openaiapi", .pattern = "[0-9a-f]{32}|[0-9A-Za-z]{84}", .entropy_min = 3, .finds = "AZUREOPENAI_KEY=304·2a317b2a3ce4d94369f0085bc8e6c", .spares = "azure_openai_deployment=gpt-4o"},
    {.id = "gemini-palm-key", .what = "Gemini API key under its name", .kind = RuleKind::kAssigned, .keywords = "gemini+key", .pattern = "[0-9A-Za-z_-]{39}", .entropy_min = 3.5, .finds = "GEMINI_KEY_KEY=Kxb·nb2WkUscjWJyqTyaMc8cA4qqxLGhUhWZl1Ro", .spares = "gemini_model=gemini-2.5-pro"},
    {.id = "clarifai-api-key", .what = "Clarifai API key", .kind = RuleKind::kAssigned, .keywords = "clarifai", .pattern = "[0-9a-f]{32}", .entropy_min = 3, .finds = "CLARIFAI_KEY=4c3·e37c54b71556028832492fb8c590c", .spares = "clarifai_app=x"},
    {.id = "zhipu-api-key", .what = "Zhipu AI API key", .kind = RuleKind::kAssigned, .keywords = "zhipu glmapi", .pattern = R"([0-9a-f]{32}\.[0-9A-Za-z]{16})", .entropy_min = 3, .finds = "ZHIPU_KEY=1a0·f358a418f6dd8b964063ec6684daf.AMAD2fb5c19w01my", .spares = "zhipu_model=glm-4"},
};
// clang-format on

}  // namespace

std::span<const SecretRule> ai_rules() { return kRules; }

}  // namespace bmad_mem
